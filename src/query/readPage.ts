import { type PageKey, writeCursor } from './pagination.ts'

/** One page of a response. */
export interface PageRows<Row> {
  data: Row[]
  nextCursor: string | null
  hasMore: boolean
}

/**
 * Reads the next rows of a list after a key. The page needs `missing` more rows.
 * @returns rows in the order of the list, the key after which the source continues, and whether it has no more rows
 */
export type Source<Key, Row> = (
  after: Key | undefined,
  missing: number,
) => Promise<{ rows: Row[]; next: Key | undefined; isEnd: boolean }>

/**
 * Reads a page of a list from its sources.
 * @param after key of the last row of the previous page
 * @param keyOf the key of a row in cursors
 */
export async function readPage<Key, Row>(
  sources: readonly Source<Key, Row>[],
  after: Key | undefined,
  { limit, boundTo }: { limit: number; boundTo: string },
  keyOf: (row: Row) => PageKey,
): Promise<PageRows<Row>> {
  return toPage(await readNext(sources, after, limit + 1), limit, keyOf, boundTo)
}

/**
 * Reduces `limit + 1` rows to a page; the additional row shows that there are more.
 * @param rows at most `limit + 1` rows, in the order of the list
 */
export function toPage<Row>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => PageKey,
  boundTo: string,
): PageRows<Row> {
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  const hasMore = rows.length > limit
  return { data, nextCursor: hasMore && last ? writeCursor(keyOf(last), boundTo) : null, hasMore }
}

/**
 * Reads a list from its sources, each until it has no more rows, until there are `limit` rows.
 * @param after key of the last row of the previous page
 * @returns up to `limit` rows, fewer only when there are no more
 */
export async function readNext<Key, Row>(
  sources: readonly Source<Key, Row>[],
  after: Key | undefined,
  limit: number,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const read of sources) {
    let [next, isEnd] = [after, false]
    while (!isEnd) {
      const part = await read(next, limit - rows.length)
      rows.push(...part.rows)
      if (rows.length >= limit) return rows.slice(0, limit)
      next = part.next
      isEnd = part.isEnd
    }
  }
  return rows
}

/** A key of a list; of events also the rest of the sort key. */
type CandidateKey = PageKey & { origin?: string; generation?: number }

/** How often keys of candidates are read, the second time twice as many, before the keys of rows that match. */
const candidateReads = 2

/** Most keys of one statement after the first: they are one parameter, which ClickHouse limits to 128 KiB. */
const keysAtOnce = 500

/** Keys read in addition to the missing rows, since a row may not match in its latest version, or be a copy. */
const spareKeys = 8

/**
 * A source of rows that have several versions or copies until a merge. It reads the keys of candidates in the order of the list, then
 * the rows at these keys, so that a page costs the same at any depth.
 * @param read `keys` reads the next keys after a key, and may repeat them; with `isExact` it reads only keys of rows that match.
 *   `rows` reads the rows at keys that match, in the order of the keys. `keysPerRow` is the number of candidates for each row, by default 1
 */
export function byKey<Key extends CandidateKey, Row>(read: {
  keys(after: Key | undefined, limit: number, isExact: boolean): Promise<Key[]>
  rows(keys: Key[]): Promise<Row[]>
  keysPerRow?: number
}): Source<Key, Row> {
  const { keysPerRow = 1 } = read
  let reads = 0
  return async (after, missing) => {
    const isExact = ++reads > candidateReads
    const keysMax = isExact ? missing + spareKeys : Math.ceil(keysPerRow * missing * 2 ** (reads - 1)) + spareKeys
    const found = await read.keys(after, keysMax, isExact)
    const keys = withoutRepetitions(found)
    const rows: Row[] = []
    for (let first = 0; first < keys.length && rows.length < missing; ) {
      const next = keys.slice(first, first === 0 ? missing + spareKeys : first + keysAtOnce)
      rows.push(...(await read.rows(next)))
      first += next.length
    }
    return { rows, next: found.at(-1), isEnd: found.length < keysMax }
  }
}

/** @returns the rows without those that repeat the key of the row before: copies and versions are adjacent */
export function withoutRepetitions<Row extends CandidateKey>(rows: readonly Row[]): Row[] {
  return rows.filter((row, index) => {
    const before = rows[index - 1]
    return !before || (['atMs', 'id', 'origin', 'generation'] as const).some((name) => row[name] !== before[name])
  })
}
