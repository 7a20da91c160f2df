import { v7 as uuidv7 } from 'uuid'
import { eventAgeMaxMs, eventAheadMaxMs, eventNamePattern, eventValueMax } from '../../schema/event.ts'
import { eventIdPattern, idPattern } from '../../schema/scalars.ts'
import { invalidParameter, Problem } from '../problem.ts'
import { toDouble } from '../query/exactJson.ts'
import { parseTimeText, timeForms } from '../query/timeText.ts'
import { keyText } from '../writer/tables/accountKeys.ts'
import type { PixelEvent } from '../writer/tables/pixelEvent.ts'
import type { RequestEvent, Sender } from './incomingEvent.ts'
import { noteDigits } from './inexactNumbers.ts'
import { collectNotes, type Note, noteUnknownFields } from './notes.ts'
import { keepProperties } from './properties.ts'

const eventName = new RegExp(eventNamePattern)
const id = new RegExp(idPattern)
const eventId = new RegExp(eventIdPattern)

const idText = 'must be 1 to 64 letters, digits and _ . : -.'

/**
 * Reads an event: the name, the identifiers, the other fields. Null is like an absent field.
 * @param body a JSON object, or the Problem of an item that could not be read
 * @param nowMs time of the request, epoch milliseconds
 * @returns the event, or the first error: Problem `invalid_<field>` or `missing_identifier`
 */
export function readEvent(
  body: Readonly<Record<string, unknown>> | Problem,
  { accountId, clickAllowance }: Sender,
  nowMs: number,
): RequestEvent {
  if (body instanceof Problem) return { outcome: body }
  const { notes, note } = collectNotes()
  try {
    const row = readRow(body, accountId, nowMs, note)
    noteUnknownFields(body, note)
    return {
      outcome: undefined,
      row,
      key: isPresent(body.event_id) ? keyText(row) : undefined,
      notes,
      note,
      clickAllowance,
      sinceMs: performance.now(),
    }
  } catch (error) {
    if (error instanceof Problem) return { outcome: error }
    throw error
  }
}

/** @throws Problem */
function readRow(body: Readonly<Record<string, unknown>>, accountId: string, nowMs: number, note: Note): PixelEvent {
  if (body.event_name === undefined) throw invalidParameter('event_name', 'is required.')
  if (!matches(eventName, body.event_name)) {
    throw invalidParameter('event_name', 'must start with a letter and have up to 64 letters, digits and _.')
  }
  return {
    accountId,
    origin: 'server',
    generation: 0,
    eventName: body.event_name,
    ...readIdentifiers(body),
    userId: '',
    value: readValue(body.value, note),
    currency: readCurrency(body.currency, note),
    properties: keepProperties(body.properties, note),
    id: readEventId(body.event_id) ?? uuidv7(),
    occurredAt: readOccurredAt(body.timestamp, nowMs, note),
    receivedAt: nowMs,
  }
}

/** @returns the click or visitor that the rate limit of identifiers counts, unique within the account */
export function identifierOf({ clickId, visitorId }: PixelEvent): string {
  return clickId === '' ? `visitor ${visitorId}` : `click ${clickId}`
}

/**
 * With a click, `campaign_id` is not read: the click has the campaign.
 * @returns the click, or the visitor and its campaign; absent ones are empty
 */
function readIdentifiers(body: Readonly<Record<string, unknown>>) {
  const { click_id: clickId, visitor_id: visitorId, campaign_id: campaignId } = body
  if (isPresent(clickId) && !matches(id, clickId)) throw invalidParameter('click_id', idText)
  if (isPresent(visitorId) && !matches(id, visitorId)) throw invalidParameter('visitor_id', idText)
  if (isPresent(clickId)) return { clickId, visitorId: visitorId ?? '', campaignId: '' }
  if (!isPresent(visitorId)) throw new Problem('missing_identifier', 'Send click_id, or visitor_id and campaign_id.')
  if (!isPresent(campaignId)) throw invalidParameter('campaign_id', 'is required with visitor_id.')
  if (!matches(id, campaignId)) throw invalidParameter('campaign_id', idText)
  return { clickId: '', visitorId, campaignId }
}

function readValue(sent: unknown, note: Note): number | null {
  if (!isPresent(sent)) return null
  const value = toDouble(sent)
  if (typeof value !== 'number') throw invalidParameter('value', 'must be a number.')
  const clamped = Math.min(Math.max(value, -eventValueMax), eventValueMax)
  if (clamped !== value) note('value_clamped', 'value', `value is clamped to ±${eventValueMax}.`)
  else if (value !== sent) noteDigits(value, 'value', note)
  // Adding 0 converts -0 to 0.
  return clamped + 0
}

/** Codes that Intl lacks: funds, metals, tests, and the new VED. Source: list one of ISO 4217, six-group.com, as of 2024-06-25. */
const notInIntl = 'BOV CHE CHW CLF COU MXV USN UYI UYW VED XAG XAU XBA XBB XBC XBD XPD XPT XTS XUA XXX'.split(' ')

const currencyCodes: ReadonlySet<unknown> = new Set([...Intl.supportedValuesOf('currency'), ...notInIntl])

/** @returns an uppercase ISO 4217 code; the empty string for any other value, which is ignored */
function readCurrency(value: unknown, note: Note): string {
  if (currencyCodes.has(value)) return value as string
  if (isPresent(value)) {
    note('currency_ignored', 'currency', 'currency must be an uppercase ISO 4217 code such as USD.')
  }
  return ''
}

function readEventId(value: unknown): string | undefined {
  if (!isPresent(value)) return undefined
  if (!matches(eventId, value)) throw invalidParameter('event_id', 'must be 1 to 128 letters, digits and _ . : -.')
  return value
}

function readOccurredAt(value: unknown, nowMs: number, note: Note): number {
  if (!isPresent(value)) return nowMs
  // A time without offset is UTC, a date its midnight.
  const atMs = typeof value === 'string' ? parseTimeText(value)?.ms : undefined
  if (atMs === undefined) throw invalidParameter('timestamp', `must be a time such as ${timeForms}.`)
  const clampedMs = Math.min(Math.max(atMs, nowMs - eventAgeMaxMs), nowMs + eventAheadMaxMs)
  if (clampedMs !== atMs) {
    note('timestamp_clamped', 'timestamp', 'timestamp is clamped to the last 30 days and the next 5 minutes.')
  }
  return clampedMs
}

const isPresent = (value: unknown): value is NonNullable<unknown> => value !== undefined && value !== null

const matches = (pattern: RegExp, value: unknown): value is string => typeof value === 'string' && pattern.test(value)
