import { Problem } from '../problem.ts'
import { readInstant } from './timeRange.ts'

/** The order of a list. */
export interface ListOrder {
  isOldestFirst: boolean
  /** If set, the list is ordered by `storedAt`, starting at this time, epoch milliseconds. */
  updatedSinceMs: number | undefined
}

/** Parameters of a list that select its order. */
interface OrderQuery {
  order?: 'asc' | 'desc'
  updated_since?: string
  updated_after?: string
}

/**
 * Decides the order of a list.
 * @throws Problem `invalid_order`, `invalid_updated_since`, `invalid_updated_after`
 */
export function planListOrder({ order, updated_since, updated_after }: OrderQuery): ListOrder {
  const updatedSinceMs = readUpdatedSince(updated_since, updated_after)
  if (updatedSinceMs === undefined) return { isOldestFirst: order === 'asc', updatedSinceMs }
  if (order === 'desc') {
    const message = 'With updated_since or updated_after, order must be asc or omitted.'
    throw new Problem('invalid_order', message, { param: 'order' })
  }
  return { isOldestFirst: true, updatedSinceMs }
}

/** `storedAt` has whole milliseconds, so rows after a time are those since the next millisecond. */
function readUpdatedSince(since: string | undefined, after: string | undefined): number | undefined {
  if (after === undefined) return since === undefined ? undefined : readInstant('updated_since', since)
  if (since === undefined) return readInstant('updated_after', after) + 1
  throw new Problem('invalid_updated_after', 'updated_after and updated_since exclude each other; send one of them.', {
    param: 'updated_after',
  })
}

/** What cursors are bound to besides the filters; nothing for newest first, so that older cursors remain valid. */
export function cursorBinding({ isOldestFirst }: ListOrder): { order?: 'asc' } {
  return isOldestFirst ? { order: 'asc' } : {}
}
