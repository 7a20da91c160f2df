import { setImmediate as nextTurn } from 'node:timers/promises'
import { pageBytesMax } from '../../schema/page.ts'
import { Turn } from '../stores/timing/turn.ts'
import { type PageKey, writeCursor } from './pagination.ts'

/** One page of a response, its rows as JSON. */
export interface PageRows {
  data: string[]
  nextCursor: string | null
  hasMore: boolean
}

/** The next rows of a list; `isFull`: their bytes fill a page, and more rows may follow. */
export interface NextRows<Row> {
  rows: Row[]
  isFull?: boolean | undefined
}

/**
 * Reads the next rows of a list after a key. The page needs `missing` more rows.
 * @returns rows in the order of the list, the key after which the source continues, and whether it has no more rows
 */
export type Source<Key, Row> = (
  after: Key | undefined,
  missing: number,
) => Promise<NextRows<Row> & { next: Key | undefined; isEnd: boolean }>

/**
 * Makes a page of rows, until their JSON has `pageBytesMax`.
 * @param next up to `limit + 1` rows, in the order of the list; row `limit + 1` shows that there are more
 * @param keyOf the key of a row in cursors
 */
export async function toPage<Row>(
  { rows, isFull = false }: NextRows<Row>,
  { limit, boundTo }: { limit: number; boundTo: string },
  keyOf: (row: Row) => PageKey,
  toJson: (row: Row) => string,
): Promise<PageRows> {
  const data: string[] = []
  const turn = new Turn()
  let bytes = 0
  for (const row of rows.slice(0, limit)) {
    const json = toJson(row)
    const length = Buffer.byteLength(json)
    bytes += length
    if (bytes > pageBytesMax && data.length > 0) break
    data.push(json)
    if (turn.isOver(length)) await nextTurn()
  }
  const last = rows[data.length - 1]
  const hasMore = isFull || rows.length > data.length
  return { data, nextCursor: hasMore && last ? writeCursor(keyOf(last), boundTo) : null, hasMore }
}

/**
 * Reads a list from its sources, each until it has no more rows, until there are `limit` rows or their bytes fill a page.
 * @param after key of the last row of the previous page
 * @returns up to `limit` rows, fewer only when there are no more or they are long
 */
export async function readNext<Key, Row>(sources: readonly Source<Key, Row>[], after: Key | undefined, limit: number) {
  const rows: Row[] = []
  for (const read of sources) {
    let [next, isEnd] = [after, false]
    while (!isEnd) {
      const part = await read(next, limit - rows.length)
      rows.push(...part.rows)
      if (rows.length >= limit) return { rows: rows.slice(0, limit) }
      if (part.isFull && rows.length > 0) return { rows, isFull: true }
      next = part.next
      isEnd = part.isEnd
    }
  }
  return { rows }
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
 *   `rows` as in `readAtKeys`. `keysPerRow` is the number of candidates for each row, by default 1
 */
export function byKey<Key extends CandidateKey, Row>(read: {
  keys(after: Key | undefined, limit: number, isExact: boolean): Promise<Key[]>
  rows(keys: Key[]): Promise<Row[] | undefined>
  keysPerRow?: number
}): Source<Key, Row> {
  const { keysPerRow = 1 } = read
  let reads = 0
  return async (after, missing) => {
    const isExact = ++reads > candidateReads
    const keysMax = isExact ? missing + spareKeys : Math.ceil(keysPerRow * missing * 2 ** (reads - 1)) + spareKeys
    const found = await read.keys(after, keysMax, isExact)
    const keys = withoutRepetitions(found)
    const { rows, next } = await readAtKeys(keys, missing, read.rows)
    if (next) return { rows, next, isEnd: false, isFull: true }
    return { rows, next: found.at(-1), isEnd: found.length < keysMax }
  }
}

/** The share of keys that are read next if the rows at some keys have too many bytes. */
const smallerShare = 1 / 8

/**
 * Reads the rows at keys until there are `missing` rows, or their bytes fill a page.
 * @param read reads the rows at keys that match, in the order of the keys; undefined if the rows at several keys have too many bytes
 * @returns rows in the order of the keys; `next` is the last key that was read, if the rows fill a page
 */
export async function readAtKeys<Key, Row>(
  keys: readonly Key[],
  missing: number,
  read: (keys: Key[]) => Promise<Row[] | undefined>,
): Promise<{ rows: Row[]; next?: Key | undefined }> {
  const rows: Row[] = []
  let count = missing + spareKeys
  /** Length of the JSON so far; counted once a read was too long. */
  let length: number | undefined
  for (let first = 0; first < keys.length && rows.length < missing; ) {
    const next = keys.slice(first, first + count)
    const part = await read(next)
    if (part) {
      rows.push(...part)
      first += next.length
      if (length === undefined) {
        count = keysAtOnce
        continue
      }
      length += await lengthOf(part)
      if (length > pageBytesMax) return { rows, next: next.at(-1) }
    } else {
      count = Math.ceil(next.length * smallerShare)
      length ??= await lengthOf(rows)
    }
  }
  return { rows }
}

/** @returns the length of the JSON of rows */
async function lengthOf(rows: readonly unknown[]): Promise<number> {
  const turn = new Turn()
  let length = 0
  for (const row of rows) {
    const added = JSON.stringify(row).length
    length += added
    if (turn.isOver(added)) await nextTurn()
  }
  return length
}

/** @returns the rows without those that repeat the key of the row before: copies and versions are adjacent */
export function withoutRepetitions<Row extends CandidateKey>(rows: readonly Row[]): Row[] {
  return rows.filter((row, index) => {
    const before = rows[index - 1]
    return !before || (['atMs', 'id', 'origin', 'generation'] as const).some((name) => row[name] !== before[name])
  })
}
