// The search in the header. The index is loaded when the field is first focused.

const maxResults = 30;

/** @typedef {[title: string, kind: string, url: string, words: string]} Entry */

/** @param {string} id */
function element(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** @param {(url: URL) => void} visit shows a page */
export function startSearch(visit) {
  const field = /** @type {HTMLInputElement} */ (element("search"));
  const results = element("results");
  /** @type {Promise<Entry[]> | undefined} */
  let index;

  function loadIndex() {
    index ??= fetch(`${document.body.dataset.path}/search.json`, { credentials: "omit" }).then((response) => {
      if (!response.ok) throw new Error("the search index cannot be loaded");
      return response.json();
    });
    // The next search tries again.
    index.catch(() => {
      index = undefined;
    });
    return index;
  }

  async function search() {
    const query = field.value.trim();
    /** @type {Entry[]} */
    let found = [];
    if (query !== "") found = resultsFor(query, await loadIndex());
    if (field.value.trim() !== query) return;
    results.replaceChildren(...found.slice(0, maxResults).map(resultItem));
    results.hidden = found.length === 0;
    element("found").textContent = query === "" ? "" : `${found.length} results`;
  }

  function close() {
    field.value = "";
    results.hidden = true;
    results.replaceChildren();
    element("found").textContent = "";
  }

  field.addEventListener("focus", () => {
    loadIndex().catch(() => {});
  });
  field.addEventListener("input", () => {
    search().catch(({ message }) => {
      element("found").textContent = message;
    });
  });
  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    const isWriting = target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
    if (key === "/" && !isWriting) {
      event.preventDefault();
      field.focus();
    }
  });
  element("search")
    .closest(".search")
    ?.addEventListener("keydown", (event) => {
      if (!(event instanceof KeyboardEvent)) return;
      const links = [...results.querySelectorAll("a")];
      const at = links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement));
      if (event.key === "Escape") {
        close();
        field.focus();
      }
      if (event.key === "ArrowDown") (links[at + 1] ?? links[0])?.focus();
      if (event.key === "ArrowUp") (at <= 0 ? field : links[at - 1])?.focus();
      if (event.key === "Enter" && at < 0 && links[0]) visit(new URL(links[0].href));
      if (event.key.startsWith("Arrow")) event.preventDefault();
    });
  // Following a result closes the list.
  addEventListener("popstate", close);
  document.addEventListener("click", ({ target }) => {
    if (target instanceof Node && results.contains(target)) setTimeout(close);
  });
}

/**
 * @param {string} query
 * @param {Entry[]} index
 */
function resultsFor(query, index) {
  const words = query.toLowerCase().split(/\s+/);
  return index
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ entry }) => entry);
}

/**
 * How well an entry matches: every word must occur in it.
 *
 * @param {Entry} entry
 * @param {string[]} words
 */
function scoreOf([title, kind, , others], words) {
  const [name, label, rest] = [title, kind, others].map((text) => text.toLowerCase());
  let score = 0;
  for (const word of words) {
    if (name?.startsWith(word)) score += 8;
    else if (name?.includes(word)) score += 4;
    else if (label?.includes(word)) score += 2;
    else if (rest?.includes(word)) score += 1;
    else return 0;
  }
  return name === words.join(" ") ? score + 8 : score;
}

/** @param {Entry} entry */
function resultItem([title, kind, url]) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = url;
  link.className = "result";
  link.textContent = title;
  const label = document.createElement("span");
  label.textContent = kind;
  link.append(" ", label);
  item.append(link);
  return item;
}
