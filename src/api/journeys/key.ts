import { type JourneyKind, journeyKinds } from '../../../schema/journey.ts'
import { type EventKey, eventPageKey, parseEventKey } from '../../query/eventKey.ts'
import { invalidCursor, type PageKey } from '../../query/pagination.ts'

/** The sort key of a row in a journey: time, kind, and the sort key of the row among those of its kind. */
export type JourneyKey =
  | ({ kind: 'click' } & PageKey)
  | ({ kind: 'event' } & EventKey)
  | ({ kind: 'conversion' } & PageKey)

/** @returns the key as cursors contain it */
export function journeyPageKey(key: JourneyKey): PageKey {
  const { id } = key.kind === 'event' ? eventPageKey(key) : key
  return { atMs: key.atMs, id: `${key.kind}:${id}` }
}

const keyId = /^(click|event|conversion):(.+)$/

/** @throws Problem `invalid_cursor` */
export function parseJourneyKey(key: PageKey | undefined): JourneyKey | undefined {
  if (!key) return undefined
  const [, kind, id] = keyId.exec(key.id) ?? []
  if (id === undefined) throw invalidCursor()
  const rest = { atMs: key.atMs, id }
  if (kind !== 'event') return { kind: kind as 'click' | 'conversion', ...rest }
  return { kind, ...(parseEventKey(rest) as EventKey) }
}

/** Where the rows of one kind continue: at the time `fromMs`, after `key` if that is a row of this kind. */
export interface KindStart<Key> {
  fromMs: number | undefined
  key: Key | undefined
}

/** @returns where the rows of a kind continue after a key */
export function startOf<Kind extends JourneyKind>(
  kind: Kind,
  after: JourneyKey | undefined,
): KindStart<Extract<JourneyKey, { kind: Kind }>> {
  if (!after) return { fromMs: undefined, key: undefined }
  if (after.kind === kind) return { fromMs: after.atMs, key: after as Extract<JourneyKey, { kind: Kind }> }
  return { fromMs: rankOf(kind) < rankOf(after.kind) ? after.atMs + 1 : after.atMs, key: undefined }
}

/** Compares two keys in the order of a journey. Ids are ASCII, so they sort as in ClickHouse. */
export function compareKeys(a: JourneyKey, b: JourneyKey): number {
  if (a.atMs !== b.atMs) return a.atMs - b.atMs
  if (a.kind !== b.kind) return rankOf(a.kind) - rankOf(b.kind)
  if (a.kind === 'event' && b.kind === 'event') {
    return compareTexts(a.origin, b.origin) || compareTexts(a.id, b.id) || a.generation - b.generation
  }
  return compareTexts(a.id, b.id)
}

function rankOf(kind: JourneyKind): number {
  return journeyKinds.indexOf(kind)
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
