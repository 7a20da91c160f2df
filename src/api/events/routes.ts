import { type TObject, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { EventBody, EventQuery, EventResponse } from '../../../schema/event.ts'
import { batchLimits, EventBatchBody, EventBatchResponse, EventLines } from '../../../schema/eventBatch.ts'
import { type AcknowledgedEvent, isAcknowledged, type Outcome, type RequestEvent } from '../../events/incomingEvent.ts'
import { type Intake, openIntake } from '../../events/intake.ts'
import { noteCodes } from '../../events/notes.ts'
import { readEvent } from '../../events/validate.ts'
import type { Caller } from '../../http/caller.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { invalidParameter, type Problem } from '../../problem.ts'
import { toEvent } from '../../rows/events.ts'
import { acceptEvents, openInFlightLimit } from './accept.ts'
import { parseItems, parseNdjson } from './batchBody.ts'
import { openBatchTurns } from './batchTurns.ts'
import { addBodyParser, openJsonParser, refuseCodings } from './bodyParsers.ts'
import { countMarks } from './jsonStructure.ts'

export function eventRoutes(app: App, context: RouteContext): void {
  const { stores, now, registry } = context
  const intake = openIntake({ stores, inFlight: openInFlightLimit(), now, log: app.log, registry })
  app.addHook('onClose', () => intake.idle())
  // Each in its own scope: no other route accepts NDJSON.
  app.register(async (scope) => addEventRoute(scope as App, context, intake))
  app.register(async (scope) => addBatchRoute(scope as App, context, intake))
}

function addEventRoute(app: App, { now, eventLimits }: RouteContext, intake: Intake): void {
  refuseCodings(app)
  addBodyParser(app, 'application/json', openJsonParser(app))
  app.post('/events', {
    schema: {
      tags: ['Events'],
      summary: 'Send an event',
      description:
        'An analytics signal from your server, stored with the events of the pixel. It never creates a conversion, and its `value` is not revenue. 200 means that the event is stored. After a 503 response, or none, retry with the same `event_id` within 24 hours: if the event was stored before, the response has `deduplicated: true`.',
      querystring: EventQuery,
      body: EventBody,
      response: {
        200: EventResponse,
        400: problem(
          'A field is invalid: `invalid_json`, `invalid_body`, `invalid_event_name`, `invalid_click_id`, `invalid_visitor_id`, `missing_identifier`, `invalid_campaign_id`, `invalid_value`, `invalid_event_id`, `invalid_timestamp`, `invalid_dry_run`, `unknown_parameter`.',
        ),
        404: problem(
          'No such click or campaign in the account; a click is found only if the account also has its campaign, so import campaigns first: `click_not_found`, `campaign_not_found`.',
        ),
        503: problem(
          'Not acknowledged; retry with the same `event_id`. An insert that exceeded its deadline may still be stored: `unavailable`, `query_timeout`.',
        ),
      },
    },
    config: { scope: 'write:events' },
    handler: async (request, reply) => {
      const { caller, query } = request
      const isDryRun = query.dry_run === true
      const event = readEvent(request.body, senderOf(caller), now())
      // Frees the body while the event waits: it may be a hundred times as large.
      request.body = null as never
      await acceptEvents({ intake, eventLimits, caller, isDryRun, reply }, [event])
      if (!isAcknowledged(event)) throw event.outcome
      if (event.notes.length > 0 && !isDryRun) reply.header('x-event-notes', noteCodes(event.notes))
      return eventResponse(event, isDryRun)
    },
  })
}

function addBatchRoute(app: App, { now, eventLimits }: RouteContext, intake: Intake): void {
  const parse = openJsonParser(app)
  refuseCodings(app)
  addBodyParser(app, 'application/json', (text) => {
    countMarks(text)
    return parse(text)
  })
  addBodyParser(app, 'application/x-ndjson', (text) => parseNdjson(text, parse))
  const turns = openBatchTurns()

  /** Ends before the events are stored, which frees the body and its items: they may be a hundred times as large. */
  async function readBatch(request: FastifyRequest, reply: FastifyReply): Promise<RequestEvent[]> {
    const items = parseItems(request.body)
    const perMinute = request.caller.subscription.eventsPerMinute
    if (items.length > perMinute) {
      const limit = `the limit of this API key is ${perMinute} events per minute`
      throw invalidParameter('events', `has ${items.length} events; ${limit}.`)
    }
    if (items.length > 1) await eventLimits.countFurtherEvents(request, reply, items.length - 1)
    request.body = null as never
    const sender = senderOf(request.caller)
    const nowMs = now()
    return items.map((item) => readEvent(item, sender, nowMs))
  }

  app.post('/events/batch', {
    bodyLimit: batchLimits.bytesMax,
    onRequest: (request, reply) => turns.wait(request, reply),
    schema: {
      tags: ['Events'],
      summary: 'Send a batch of events',
      description:
        'Up to 1,000 events as JSON, or as NDJSON with one event per line. Each event is validated and accepted on its own, with the result that `POST /events` gives. Events with an `event_id` are stored once within 24 hours: after a 503 or without a response, send the whole batch again. Every event counts against the rate limit of the key; a batch that exceeds it is rejected as a whole.',
      querystring: EventQuery,
      body: {
        content: { 'application/json': { schema: EventBatchBody }, 'application/x-ndjson': { schema: EventLines } },
      },
      response: {
        200: EventBatchResponse,
        400: problem(
          'The batch cannot be read: `invalid_json`, `invalid_body`, `invalid_events`, `invalid_dry_run`, `unknown_parameter`.',
        ),
        413: problem(
          'The body is larger than 4 MiB, has more than 128,000 commas, colons and brackets outside texts, or has more than 64 nested levels: `payload_too_large`.',
        ),
        503: problem(
          'No event is acknowledged; send the whole batch again. A batch above 256 KiB may have waited too long for its turn: two are read at a time, one per account: `unavailable`, `query_timeout`.',
        ),
      },
    },
    config: { scope: 'write:events' },
    handler: async (request, reply) => {
      const { caller, query } = request
      const events = await readBatch(request, reply)
      turns.end(request)
      const isDryRun = query.dry_run === true
      await acceptEvents({ intake, eventLimits, caller, isDryRun }, events)
      return batchResponse(events, isDryRun)
    },
  })
}

const senderOf = ({ accountId, subscription }: Caller) => ({ accountId, clickAllowance: subscription.clickAllowance })

const responses = {
  stored: { accepted: true },
  duplicate: { accepted: true, deduplicated: true },
  over_ceiling: { accepted: true, recorded: false, reason: 'fair_use_ceiling' },
} as const satisfies Record<Outcome, EventResponse>

function eventResponse({ outcome, notes, row, key }: AcknowledgedEvent, isDryRun: boolean): EventResponse {
  if (!isDryRun) return responses[outcome]
  const event = outcome === 'stored' ? { ...toEvent(row), ...(key === undefined && { id: null }) } : null
  return { ...responses[outcome], event, notes: [...notes] }
}

function batchResponse(events: readonly RequestEvent[], isDryRun: boolean): EventBatchResponse {
  const counts = { stored: 0, duplicate: 0, over_ceiling: 0, rejected: 0 }
  const results = events.map((event, index) => {
    if (!isAcknowledged(event)) {
      counts.rejected += 1
      return rejectedResult(index, event.outcome as Problem)
    }
    const { outcome, notes } = event
    counts[outcome] += 1
    return { index, ...eventResponse(event, isDryRun), ...(notes.length > 0 && { notes: [...notes] }) }
  })
  const { stored, duplicate: deduplicated, over_ceiling: overCeiling, rejected } = counts
  return { stored, deduplicated, overCeiling, rejected, results }
}

function rejectedResult(index: number, { code, message, details }: Problem) {
  const { param, retryAfterS: retryAfter } = details
  const optional = { ...(param !== undefined && { param }), ...(retryAfter !== undefined && { retryAfter }) }
  return { index, error: code, message, ...optional }
}

/** Error responses of one status. */
const problem = (description: string): TObject => Type.Object({}, { description })
