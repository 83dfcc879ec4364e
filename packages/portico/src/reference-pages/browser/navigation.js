// Shows other reference pages without leaving the document, so that an entered key is kept in memory. Opens and closes the
// navigation on narrow screens.

/** @param {string} selector */
function element(selector) {
  const found = document.querySelector(selector);
  if (!(found instanceof HTMLElement)) throw new Error(`the page has no ${selector}`);
  return found;
}

/**
 * The part of the page that a URL names.
 *
 * @param {{ hash: string }} url
 */
function partOf({ hash }) {
  try {
    return document.getElementById(decodeURIComponent(hash.slice(1)));
  } catch {
    // Its percent-encoding is broken.
    return null;
  }
}

/**
 * Follows links between reference pages.
 *
 * @param {() => void} prepare called for each page that is shown
 * @returns {(url: URL) => void} shows a page
 */
export function keepPage(prepare) {
  const path = document.body.dataset.path ?? "";
  const menu = element("#menu");
  let shown = location.pathname;
  let requested = 0;

  /** @param {boolean} isOpen */
  function openMenu(isOpen) {
    menu.setAttribute("aria-expanded", String(isOpen));
  }

  /** @param {URL} url */
  function isReference({ origin, pathname }) {
    return (
      origin === location.origin &&
      (pathname === path || pathname.startsWith(`${path}/`)) &&
      !/\.\w+$/.test(pathname)
    );
  }

  /**
   * @param {URL} url
   * @param {number} [scrollY] where the page was scrolled to when it was left
   */
  async function show(url, scrollY) {
    openMenu(false);
    const request = ++requested;
    if (url.pathname !== shown) {
      const response = await fetch(url.pathname, { credentials: "omit", headers: { Accept: "text/html" } });
      if (request !== requested) return;
      const next = new DOMParser().parseFromString(response.ok ? await response.text() : "", "text/html");
      const files = 'link[rel="stylesheet"]';
      // The server has another version, or an error to show.
      if (next.querySelector(files)?.outerHTML !== document.querySelector(files)?.outerHTML)
        return location.reload();
      if (request !== requested) return;
      for (const part of ["main", "nav"])
        element(part).replaceWith(/** @type {Element} */ (next.querySelector(part)));
      document.title = next.title;
      shown = url.pathname;
      prepare();
    }
    const target = partOf(url);
    const focused = target ?? element("h1");
    focused.focus({ preventScroll: true });
    if (scrollY !== undefined) scrollTo(0, scrollY);
    else if (target) target.scrollIntoView();
    else scrollTo(0, 0);
  }

  /** @param {URL} url */
  function visit(url) {
    history.replaceState({ scrollY }, "");
    history.pushState({}, "", url);
    show(url).catch(() => location.assign(url));
  }

  history.scrollRestoration = "manual";
  addEventListener("popstate", ({ state }) => {
    show(new URL(location.href), Number(state?.scrollY ?? 0)).catch(() => location.reload());
  });
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const url = new URL(link.href);
    if (!isReference(url)) return;
    event.preventDefault();
    visit(url);
  });
  menu.addEventListener("click", () => openMenu(menu.getAttribute("aria-expanded") !== "true"));
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") openMenu(false);
  });
  partOf(location)?.scrollIntoView();
  return visit;
}
