// How many random inputs the tests of a run try.

/**
 * A number of random inputs: the whole number in CI, fewer elsewhere, so that a developer's run stays short.
 * `PORTICO_TEST_EFFORT=10` tries ten times as many.
 *
 * @param variable an environment variable that sets another number
 */
export function randomRuns(inCi: number, elsewhere: number, variable = ""): number {
  const effort = Number(process.env.PORTICO_TEST_EFFORT ?? 1);
  return Number(process.env[variable] ?? Math.ceil((process.env.CI ? inCi : elsewhere) * effort));
}
