// How many random inputs the tests of a run try.

/**
 * A number of random inputs: the whole number in CI, fewer elsewhere, so that a developer's run stays short.
 *
 * @param variable an environment variable that sets another number
 */
export function randomRuns(inCi: number, elsewhere: number, variable = ""): number {
  return Number(process.env[variable] ?? (process.env.CI ? inCi : elsewhere));
}
