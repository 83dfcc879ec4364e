// Which redirect URIs a client can register. Requests hold theirs to the same characters and length, so that every
// registered URI can be used.

export const maxUriLength = 2_000;

/** Printable ASCII without spaces; anything else is percent-encoded in a URI (RFC 3986, section 2). */
export const uriPattern = /^[\x21-\x7e]*$/;

const loopbacks = ["127.0.0.1", "[::1]", "localhost"];

/**
 * Why a redirect URI or the URL of a key set cannot be registered (RFC 9700, section 2.1; RFC 8252, section 7.3).
 * Undefined for a valid one.
 */
export function redirectUriError(uri: string): string | undefined {
  if (!uriPattern.test(uri)) return `has ${uri}: percent-encode spaces and characters that are not ASCII`;
  const url = URL.parse(uri);
  if (!url || /[\\*]/.test(uri)) return `has ${uri}, which is not a complete URL without wildcards`;
  const isLoopback = url.protocol === "http:" && loopbacks.includes(url.hostname);
  if (url.protocol !== "https:" && !isLoopback)
    return `has ${uri}: use https, or http with a loopback address`;
  if (uri.includes("#")) return `has ${uri}: remove the fragment`;
  if (url.username || url.password) return `has ${uri}: remove the user name`;
  return undefined;
}
