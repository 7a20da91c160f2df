import { batchLimits } from '../../../schema/eventBatch.ts'
import { isJsonWithin } from '../../events/jsonSize.ts'
import { invalidParameter, Problem } from '../../problem.ts'
import { isJsonObject } from '../../query/exactJson.ts'
import { countMarks } from './jsonStructure.ts'

/** The items of a batch: JSON objects to validate as events, or a Problem for an item that cannot be read. */
export type BatchItem = Readonly<Record<string, unknown>> | Problem

/** Parses one JSON text without dangerous keys. @throws any error for text that is not JSON */
export type ParseJson = (text: string) => unknown

/**
 * Reads the items of a parsed body.
 * @param body `{ events: […] }`; an item that is a Problem is returned as it is
 * @throws Problem `invalid_body`, `invalid_events`
 */
export function parseItems(body: unknown): BatchItem[] {
  const { events } = body as { events?: unknown }
  if (!Array.isArray(events)) throw invalidParameter('events', 'must be an array.')
  if (events.length === 0 || events.length > batchLimits.eventsMax) {
    throw invalidParameter('events', `must have 1 to ${batchLimits.eventsMax} events; it has ${events.length}.`)
  }
  return events.map((item) => {
    if (item instanceof Problem) return item
    if (!isJsonObject(item)) return new Problem('invalid_body', 'The event must be a JSON object.')
    return isJsonWithin(item, batchLimits.eventBytesMax) ? item : tooLarge()
  })
}

/**
 * Parses NDJSON: one event per line. Blank lines are skipped; a line that cannot be read becomes a Problem.
 * @returns a body as `parseItems` expects it, of at most one event more than the limit
 * @throws Problem `payload_too_large` for a body with too many marks or nested levels
 */
export function parseNdjson(body: string, parse: ParseJson): { events: unknown[] } {
  const events: unknown[] = []
  let marks = 0
  // One scan passes all blank lines; a step for each of 4 million would block the event loop for 150 ms.
  const notBlank = /\S/g
  while (events.length <= batchLimits.eventsMax) {
    const found = notBlank.exec(body)
    if (!found) break
    const start = body.lastIndexOf('\n', found.index) + 1
    const end = body.indexOf('\n', found.index)
    const line = end === -1 ? body.slice(start) : body.slice(start, end)
    if (Buffer.byteLength(line) <= batchLimits.eventBytesMax) {
      marks = countMarks(line, marks)
      events.push(parseLine(line, parse))
    } else events.push(tooLarge())
    if (end === -1) break
    notBlank.lastIndex = end
  }
  return { events }
}

function parseLine(line: string, parse: ParseJson): unknown {
  try {
    return parse(line)
  } catch {
    return new Problem('invalid_json', 'The line is not JSON.')
  }
}

function tooLarge(): Problem {
  return new Problem('payload_too_large', `The event is larger than ${batchLimits.eventBytesMax / 1024} KiB.`)
}
