import { type JourneyKind, type JourneyQuery, journeyKinds } from '../../../schema/journey.ts'
import { pageLimitDefault } from '../../../schema/page.ts'
import { type Scope, scopesOfKinds } from '../../../schema/scopes.ts'
import { invalidParameter, Problem } from '../../problem.ts'
import { type EventKey, parseEventKey } from '../../query/eventKey.ts'
import { fingerprint, invalidCursor, type PageKey, parseCursor } from '../../query/pagination.ts'
import type { PlanCaller } from '../../query/readContext.ts'
import { retainedFrom } from '../../query/retained.ts'

type JourneyOf = { column: 'visitor_id' | 'click_id'; id: string }

export type JourneyPlan = Readonly<ReturnType<typeof planJourney>>

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem `invalid_visitor_id`, `invalid_click_id`, `invalid_cursor`
 */
export function planJourney(
  { visitor_id, click_id, limit, cursor }: JourneyQuery,
  caller: PlanCaller & { scopes: ReadonlySet<Scope> },
  nowMs: number,
) {
  const boundTo = fingerprint(caller.accountId, 'journeys', { visitor_id, click_id })
  return {
    accountId: caller.accountId,
    currency: caller.currency,
    of: readJourneyOf(visitor_id, click_id),
    /** Kinds that the key may not read. */
    omitted: journeyKinds.filter((kind) => {
      const scope = scopesOfKinds[kind]
      return scope !== undefined && !caller.scopes.has(scope)
    }),
    retained: retainedFrom(undefined, Math.max(caller.retained.clicksMs, caller.retained.eventsMs)),
    /** Rows from before these times are being removed, and not read. */
    retainedRanges: caller.retained,
    limit: limit ?? pageLimitDefault,
    /** Key of the last row of the previous page; undefined for the first page. */
    after: parseJourneyKey(parseCursor(cursor, boundTo)),
    boundTo,
    nowMs,
  }
}

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
function parseJourneyKey(key: PageKey | undefined): JourneyKey | undefined {
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

function readJourneyOf(visitorId: string | undefined, clickId: string | undefined): JourneyOf {
  if (visitorId !== undefined && clickId !== undefined) {
    throw invalidParameter('click_id', 'and visitor_id exclude each other; send one of them.')
  }
  if (clickId !== undefined) return { column: 'click_id', id: clickId }
  if (visitorId !== undefined) return { column: 'visitor_id', id: visitorId }
  throw new Problem('invalid_visitor_id', 'Send visitor_id or click_id.', { param: 'visitor_id' })
}
