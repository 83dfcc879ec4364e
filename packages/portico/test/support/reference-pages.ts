// Requests reference pages as a browser does, and reads their HTML.

export async function getText(
  { url }: { readonly url: string },
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }> {
  const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
  const response = await fetch(url + path, { headers: { accept, ...headers }, redirect: "manual" });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

function unescapeHtml(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name]!);
}

/** The values of all attributes with a name. */
export function attributesOf(page: string, name: string): string[] {
  return [...page.matchAll(new RegExp(` ${name}="([^"]*)"`, "g"))].map(([, value]) => unescapeHtml(value!));
}

export function idsOf(page: string): string[] {
  return attributesOf(page, "id");
}

/** The code of the example with an id: `createPost-curl` */
export function codeOf(page: string, id: string): string {
  const [, code] = new RegExp(` id="${id}".*?<code>(.*?)</code>`, "s").exec(page) ?? [];
  if (code === undefined) throw new Error(`the page has no example ${id}`);
  return unescapeHtml(code);
}
