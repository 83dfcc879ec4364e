// Comparing what a caller sends with what only the server can make.

/**
 * Whether two texts are the same, in a time that does not tell how much of them is. `timingSafeEqual` takes buffers,
 * and to make two of them takes longer than all the rest.
 */
export function constantTimeEqual(expected: string, presented: string): boolean {
  if (presented.length !== expected.length) return false;
  let difference = 0;
  for (let index = 0; index < expected.length; index += 1) {
    difference |= expected.charCodeAt(index) ^ presented.charCodeAt(index);
  }
  return difference === 0;
}
