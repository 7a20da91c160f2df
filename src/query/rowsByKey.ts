/** Keys read in addition to the missing rows, since a row may not match in its latest version, or be a copy. */
export const spareKeys = 8

/**
 * Reads rows of a table in which several versions or copies of a row are stored until a merge: first the keys of candidates
 * in the order of the list, then the rows at these keys, until there are `limit` rows or no more candidates.
 * @param read `keys`: the next keys after `lastKey`, at most `limit`; `rows`: the rows at keys that match, in their order
 * @returns rows in the order of the list; at least `limit` if there are as many, and at most eight more
 */
export async function readRowsByKey<Key, Row>(
  after: Key | undefined,
  limit: number,
  read: {
    keys(lastKey: Key | undefined, limit: number): Promise<Key[]>
    rows(keys: Key[]): Promise<Row[]>
  },
): Promise<Row[]> {
  const rows: Row[] = []
  let lastKey = after
  for (;;) {
    const keysMax = limit - rows.length + spareKeys
    const keys = await read.keys(lastKey, keysMax)
    if (keys.length > 0) rows.push(...(await read.rows(keys)))
    if (rows.length >= limit || keys.length < keysMax) return rows
    lastKey = keys.at(-1)
  }
}
