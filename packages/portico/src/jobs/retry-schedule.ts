// When a mail that could not be sent is tried again: soon at first, then ever later, for about two days.

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** How long to wait after the first failure, the second, and so on; after the last of them there is no more. */
const retryDelays = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  hour,
  3 * hour,
  6 * hour,
  12 * hour,
  24 * hour,
];
/** Mails that failed together do not come back together. */
const jitter = 0.2;

/**
 * Milliseconds until the next attempt, or undefined where there is none.
 * @param attempts made so far, 1 or more
 * @param random from 0 to 1
 */
export function retryDelayAfter(attempts: number, random: number = Math.random()): number | undefined {
  const delay = retryDelays[attempts - 1];
  return delay === undefined ? undefined : Math.round(delay * (1 - jitter + 2 * jitter * random));
}
