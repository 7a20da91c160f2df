import { ch, count, type Fragment, text } from '../stores/clickhouse/sql.ts'
import { afterKey, invalidCursor, type PageKey } from './pagination.ts'

/** Full sort key of an event in a list: its time in the order of the list, and its key within the account. */
export interface EventKey extends PageKey {
  origin: string
  generation: number
}

const keyId = /^(browser|server):(\d{1,10}):(.+)$/

/** @returns the key as cursors contain it */
export function eventPageKey({ atMs, origin, id, generation }: EventKey): PageKey {
  return { atMs, id: `${origin}:${generation}:${id}` }
}

/** @throws Problem `invalid_cursor` */
export function parseEventKey(key: PageKey | undefined): EventKey | undefined {
  if (!key) return undefined
  const [, origin, generation, id] = keyId.exec(key.id) ?? []
  if (origin === undefined || id === undefined || Number(generation) > 0xffff_ffff) throw invalidCursor()
  return { atMs: key.atMs, origin, id, generation: Number(generation) }
}

/** Condition: the event comes after `key` in the order of a list. */
export function isAfterEvent(key: EventKey | undefined, at: Fragment, isOldestFirst: boolean): Fragment {
  if (!key) return ch`1`
  const values = ch`${text(key.origin)}, ${text(key.id)}, ${count(key.generation)}`
  return afterKey(at, ch`origin, id, generation`, key.atMs, values, isOldestFirst)
}
