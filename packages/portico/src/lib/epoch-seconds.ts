/** The current time in whole seconds since 1970, the unit of every time in OAuth (RFC 7519, section 2: NumericDate). */
export function epochSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
