import { type JourneyKind, journeyKinds } from '../../../schema/journey.ts'
import { type EventKey, parseEventKey } from '../../query/eventKey.ts'
import { invalidCursor, type PageKey } from '../../query/pagination.ts'

/** The sort key of a row in a journey: time, kind, and the id in cursors of its kind. */
export interface JourneyKey extends PageKey {
  kind: JourneyKind
}

/** @returns the key as cursors contain it */
export function journeyPageKey({ kind, atMs, id }: JourneyKey): PageKey {
  return { atMs, id: `${kind}:${id}` }
}

const keyId = /^(click|event|conversion):(.+)$/

/** @throws Problem `invalid_cursor` */
export function parseJourneyKey(key: PageKey | undefined): JourneyKey | undefined {
  if (!key) return undefined
  const [, kind, id] = keyId.exec(key.id) ?? []
  if (id === undefined) throw invalidCursor()
  const parsed = { kind: kind as JourneyKind, atMs: key.atMs, id }
  if (kind === 'event') parseEventKey(parsed)
  return parsed
}

/** @returns the key after which the rows of a kind continue; undefined at the start of the journey */
export function startOf(kind: JourneyKind, after: JourneyKey | undefined): PageKey | undefined {
  if (!after || after.kind === kind) return after
  const isEarlierKind = journeyKinds.indexOf(kind) < journeyKinds.indexOf(after.kind)
  // No row has an empty id, so this key is before all rows at its time.
  return { atMs: isEarlierKind ? after.atMs + 1 : after.atMs, id: '' }
}

/** The same for events. */
export function eventStart(after: JourneyKey | undefined): EventKey | undefined {
  const start = startOf('event', after)
  return start?.id === '' ? { ...start, origin: '', generation: 0 } : parseEventKey(start)
}
