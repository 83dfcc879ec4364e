// Comparing what a caller sends with what only the server can make.

/**
 * Whether two texts are the same, in a time that does not tell how much of them is. `timingSafeEqual` takes buffers,
 * and to make two of them takes longer than all the rest.
 */
export function isSameText(known: string, given: string): boolean {
  if (given.length !== known.length) return false;
  let difference = 0;
  for (let place = 0; place < known.length; place += 1) {
    difference |= known.charCodeAt(place) ^ given.charCodeAt(place);
  }
  return difference === 0;
}
