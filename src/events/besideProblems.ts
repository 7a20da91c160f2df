import { Problem } from '../problem.ts'

/**
 * Runs a step for the items that are no Problems, if any. @param step returns one result per item, in their order
 * @returns the results and the Problems, in the order of the items
 */
export async function besideProblems<Item, Result>(
  items: readonly (Item | Problem)[],
  step: (others: Item[]) => Promise<readonly Result[]>,
): Promise<(Result | Problem)[]> {
  const others = items.filter((item): item is Item => !(item instanceof Problem))
  const results = others.length === 0 ? [] : await step(others)
  let next = 0
  return items.map((item) => (item instanceof Problem ? item : (results[next++] as Result)))
}
