// Shows the examples of one language at a time, and copies them. The chosen language is kept for all examples.

let language = "curl";

/** Makes tabs of all examples of the page (ARIA Authoring Practices Guide, tabs). */
export function addTabs() {
  for (const samples of document.querySelectorAll(".samples")) {
    const panels = /** @type {HTMLElement[]} */ ([...samples.querySelectorAll(".sample")]);
    const list = document.createElement("div");
    list.className = "tabs";
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", "Language");
    list.append(...panels.map(tabFor));
    list.addEventListener("keydown", moveBetweenTabs);
    samples.prepend(list);
  }
  for (const block of document.querySelectorAll("main pre")) addCopyButton(block);
  choose(language);
}

/** @param {HTMLElement} panel */
function tabFor(panel) {
  const name = panel.dataset.language ?? "";
  const tab = document.createElement("button");
  tab.type = "button";
  tab.id = `tab-${panel.id}`;
  tab.textContent = name;
  tab.dataset.language = name;
  tab.setAttribute("role", "tab");
  tab.setAttribute("aria-controls", panel.id);
  tab.addEventListener("click", () => choose(name));
  panel.setAttribute("role", "tabpanel");
  panel.setAttribute("aria-labelledby", tab.id);
  panel.querySelector("h3")?.remove();
  return tab;
}

/** @param {string} chosen */
function choose(chosen) {
  language = chosen;
  for (const samples of document.querySelectorAll(".samples")) {
    const panels = /** @type {HTMLElement[]} */ ([...samples.querySelectorAll(".sample")]);
    // Not every example exists in every language.
    const shown = panels.some(({ dataset }) => dataset.language === chosen)
      ? chosen
      : panels[0]?.dataset.language;
    for (const panel of panels) panel.hidden = panel.dataset.language !== shown;
    for (const tab of samples.querySelectorAll("[role=tab]")) {
      const isShown = /** @type {HTMLElement} */ (tab).dataset.language === shown;
      tab.setAttribute("aria-selected", String(isShown));
      tab.setAttribute("tabindex", isShown ? "0" : "-1");
    }
  }
}

/** @param {KeyboardEvent} event */
function moveBetweenTabs(event) {
  const { key, currentTarget } = event;
  if (!(currentTarget instanceof HTMLElement)) return;
  const tabs = /** @type {HTMLElement[]} */ ([...currentTarget.querySelectorAll("[role=tab]")]);
  const at = tabs.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const last = tabs.length - 1;
  const targets = new Map([
    ["ArrowRight", at === last ? 0 : at + 1],
    ["ArrowLeft", at <= 0 ? last : at - 1],
    ["Home", 0],
    ["End", last],
  ]);
  const target = tabs[targets.get(key) ?? -1];
  if (!target) return;
  event.preventDefault();
  target.focus();
  target.click();
}

/** @param {Element} block */
function addCopyButton(block) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(block.querySelector("code")?.textContent ?? "").then(
      () => announce(button, "Copied"),
      () => announce(button, "Not allowed"),
    );
  });
  block.prepend(button);
}

/**
 * @param {HTMLElement} button
 * @param {string} text shown for two seconds
 */
function announce(button, text) {
  button.textContent = text;
  button.setAttribute("aria-live", "polite");
  setTimeout(() => {
    button.textContent = "Copy";
  }, 2_000);
}
