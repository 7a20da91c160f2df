/** Factor of the number of random cases: `npm run test:long` runs five times as many as the suite. */
export const randomCasesFactor = Number(process.env.TRIBUTARY_TEST_RUNS ?? 1)

/** @returns the number of random cases of a test, given the number of the suite */
export function randomCases(inSuite: number): number {
  return inSuite * randomCasesFactor
}
