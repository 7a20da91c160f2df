/** Factor of the number of random cases: `TRIBUTARY_TEST_RUNS=10` runs ten times as many as the suite. */
export const randomCasesFactor = Number(process.env.TRIBUTARY_TEST_RUNS ?? 1)

/** @returns the number of random cases of a test, given that of the suite */
export function randomCases(inSuite: number): number {
  return inSuite * randomCasesFactor
}
