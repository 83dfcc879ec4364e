// Describes a browser so that its user recognizes it: `Firefox on Linux`.

/** In this order: most browsers also name others in their User-Agent. */
const browsers = [
  ["Edg", "Edge"],
  ["OPR", "Opera"],
  ["SamsungBrowser", "Samsung Internet"],
  ["Firefox", "Firefox"],
  ["FxiOS", "Firefox"],
  ["CriOS", "Chrome"],
  ["Chrome", "Chrome"],
  ["Safari", "Safari"],
] as const;

const systems = [
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Android", "Android"],
  ["Windows", "Windows"],
  ["Mac OS X", "macOS"],
  ["CrOS", "ChromeOS"],
  ["Linux", "Linux"],
] as const;

export function browserName(userAgent: string): string {
  const find = (names: readonly (readonly [mark: string, name: string])[]): string | undefined =>
    names.find(([mark]) => userAgent.includes(mark))?.[1];
  const browser = find(browsers);
  const system = find(systems);
  if (browser === undefined) return userAgent.slice(0, 60) || "A browser";
  return system === undefined ? browser : `${browser} on ${system}`;
}
