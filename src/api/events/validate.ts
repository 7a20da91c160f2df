import { eventAgeMaxMs, eventAheadMaxMs, eventNamePattern, eventValueMax } from '../../../schema/event.ts'
import { eventIdPattern, idPattern } from '../../../schema/scalars.ts'
import { Problem } from '../../problem.ts'
import { keepCurrency } from './currency.ts'
import { keepProperties } from './properties.ts'
import { readTimestamp } from './timestamp.ts'

/** An event that is well-formed. Whether its click or campaign is the caller's is not known yet. */
export interface ValidEvent {
  eventName: string
  /** Whose event it is: the click when there is one, else the visitor of a campaign. */
  identifiers: { clickId: string } | { campaignId: string }
  /** Empty when it was not given. */
  visitorId: string
  /** Clamped. */
  value: number | null
  /** ISO 4217, or empty. */
  currency: string
  /** JSON text of an object, or empty. */
  properties: string
  /** The caller's own id of the event, to recognise it by. */
  eventId: string | undefined
  /** Epoch milliseconds, clamped. */
  occurredAtMs: number
  /** Epoch milliseconds. */
  receivedAtMs: number
}

const eventName = new RegExp(eventNamePattern)
const id = new RegExp(idPattern)
const eventId = new RegExp(eventIdPattern)

const idText = 'must be 1 to 64 letters, digits and _ . : -'

/**
 * Reads an event out of a body, in the order of the specification: the name, the identifiers, the other fields. Nothing
 * is coerced, null is the same as absent, and the first fault answers.
 * @param nowMs the moment of the call, epoch milliseconds
 * @throws Problem `invalid_<field>` or `missing_identifier`
 */
export function validateEvent(body: Readonly<Record<string, unknown>>, nowMs: number): ValidEvent {
  if (!matches(eventName, body.event_name)) {
    throw invalid('event_name', 'must start with a letter and have up to 64 letters, digits and _')
  }
  return {
    eventName: body.event_name,
    ...readIdentifiers(body),
    value: readValue(body.value),
    currency: keepCurrency(body.currency),
    properties: keepProperties(body.properties),
    eventId: readEventId(body.event_id),
    occurredAtMs: readOccurredAt(body.timestamp, nowMs),
    receivedAtMs: nowMs,
  }
}

/** @returns what the limit of clicks and visitors counts by, unique within the account */
export function identifierOf({ identifiers, visitorId }: ValidEvent): string {
  return 'clickId' in identifiers ? `click ${identifiers.clickId}` : `visitor ${visitorId}`
}

/** With a click, the campaign is not even looked at: it comes from the click. */
function readIdentifiers(body: Readonly<Record<string, unknown>>): Pick<ValidEvent, 'identifiers' | 'visitorId'> {
  const { click_id: clickId, visitor_id: visitorId, campaign_id: campaignId } = body
  if (isPresent(clickId) && !matches(id, clickId)) throw invalid('click_id', idText)
  if (isPresent(visitorId) && !matches(id, visitorId)) throw invalid('visitor_id', idText)
  if (isPresent(clickId)) return { identifiers: { clickId }, visitorId: visitorId ?? '' }
  if (!isPresent(visitorId)) throw new Problem('missing_identifier', 'Send click_id, or visitor_id and campaign_id.')
  if (!isPresent(campaignId)) throw invalid('campaign_id', 'is required beside visitor_id')
  if (!matches(id, campaignId)) throw invalid('campaign_id', idText)
  return { identifiers: { campaignId }, visitorId }
}

function readValue(value: unknown): number | null {
  if (!isPresent(value)) return null
  if (typeof value !== 'number') throw invalid('value', 'must be a number')
  // Nobody means a negative zero, and it equals zero everywhere but in a comparison of bits.
  return Math.min(Math.max(value, -eventValueMax), eventValueMax) + 0
}

function readEventId(value: unknown): string | undefined {
  if (!isPresent(value)) return undefined
  if (!matches(eventId, value)) throw invalid('event_id', 'must be 1 to 128 letters, digits and _ . : -')
  return value
}

function readOccurredAt(value: unknown, nowMs: number): number {
  if (!isPresent(value)) return nowMs
  const atMs = typeof value === 'string' ? readTimestamp(value) : undefined
  if (atMs === undefined) throw invalid('timestamp', 'must be an ISO 8601 date-time such as 2026-11-21T03:00:00Z')
  return Math.min(Math.max(atMs, nowMs - eventAgeMaxMs), nowMs + eventAheadMaxMs)
}

function isPresent(value: unknown): value is NonNullable<unknown> {
  return value !== undefined && value !== null
}

function matches(pattern: RegExp, value: unknown): value is string {
  return typeof value === 'string' && pattern.test(value)
}

function invalid(field: string, rest: string): Problem {
  return new Problem(`invalid_${field}`, `${field} ${rest}.`, { param: field })
}
