export async function forEachConcurrently<Item>(
  items: readonly Item[],
  concurrency: number,
  act: (item: Item) => Promise<unknown>,
): Promise<void> {
  const queue = [...items]
  const runQueued = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await act(item)
  }
  await Promise.all(Array.from({ length: concurrency }, runQueued))
}
