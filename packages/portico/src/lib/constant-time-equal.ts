import { timingSafeEqual } from "node:crypto";

/** Compares two texts in a time that does not depend on where they differ. Their length is not hidden. */
export function constantTimeEqual(expected: string, presented: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(presented)];
  return one.length === other.length && timingSafeEqual(one, other);
}
