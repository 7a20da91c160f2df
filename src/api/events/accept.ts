import type { FastifyReply } from 'fastify'
import type { EventNote } from '../../../schema/eventNote.ts'
import { besideProblems } from '../../events/besideProblems.ts'
import type { Outcome } from '../../events/duplicates.ts'
import type { Intake } from '../../events/intake.ts'
import { collectNotes, noteUnknownFields } from '../../events/notes.ts'
import { identifierOf, type ValidEvent, validateEvent } from '../../events/validate.ts'
import type { Caller } from '../../http/caller.ts'
import type { EventLimits } from '../../http/rateLimit.ts'
import { Problem } from '../../problem.ts'
import type { PixelEvent } from '../../writer/tables/pixelEvent.ts'
import type { BatchItem } from './batchBody.ts'

/** An accepted event; a dry run adds the row. */
export interface AcceptedEvent {
  outcome: Outcome
  notes: readonly EventNote[]
  preview?: { row: PixelEvent | undefined; hasId: boolean }
}

export type JudgedEvent = ValidatedEvent | Problem
interface ValidatedEvent {
  event: ValidEvent
  notes: readonly EventNote[]
}

export interface BatchContext {
  intake: Intake
  eventLimits: EventLimits
  caller: Caller
  isDryRun: boolean
  /** Set for a single event: gets the headers of the limit of its click or visitor. */
  reply?: FastifyReply
}

/** Validates an item. */
export function judge(item: BatchItem, nowMs: number): JudgedEvent {
  if (item instanceof Problem) return item
  try {
    const { notes, note } = collectNotes()
    const event = validateEvent(item, nowMs, note)
    noteUnknownFields(item, note)
    return { event, notes }
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

/**
 * Accepts the events of a batch; each item has its own result. A single event is a batch of one.
 * @param items as `judge` returns them
 * @returns one result per item, in their order
 * @throws Problem `unavailable`: any of the events may be stored or not
 */
export async function acceptBatch(
  context: BatchContext,
  items: readonly JudgedEvent[],
): Promise<(AcceptedEvent | Problem)[]> {
  const limited = await besideProblems(items, (valid) => limitIdentifiers(context, valid))
  return await besideProblems(limited, (allowed) => acceptEvents(context, allowed))
}

/** Counts the events of each click and visitor; those above its rate limit become Problems. */
async function limitIdentifiers(
  { eventLimits, caller: { accountId, plan }, reply }: BatchContext,
  valid: readonly ValidatedEvent[],
): Promise<JudgedEvent[]> {
  const identifiers = valid.map(({ event }) => `${accountId} ${identifierOf(event)}`)
  const eventsOf = new Map<string, number>()
  for (const identifier of identifiers) eventsOf.set(identifier, (eventsOf.get(identifier) ?? 0) + 1)
  const counted = [...eventsOf].map(async ([identifier, events]) => {
    const limit = await eventLimits.countIdentifier(identifier, plan.identifierEventsPerMinute, events, reply)
    return [identifier, limit] as const
  })
  const limitOf = new Map(await Promise.all(counted))
  return valid.map((item, index) => {
    const limit = limitOf.get(identifiers[index] as string)
    if (!limit) return item
    limit.allowed -= 1
    return limit.allowed < 0 ? limit.exceeded() : item
  })
}

async function acceptEvents(
  { intake, caller, isDryRun }: BatchContext,
  valid: readonly ValidatedEvent[],
): Promise<(AcceptedEvent | Problem)[]> {
  const events = valid.map(({ event }) => event)
  const sender = { accountId: caller.accountId, clickAllowance: caller.plan.clickAllowance }
  const results = isDryRun ? await intake.preview(events, sender) : await intake.accept(events, sender)
  return results.map((result, index) => {
    if (result instanceof Problem) return result
    const { event, notes } = valid[index] as ValidatedEvent
    if (typeof result === 'object') {
      return { outcome: result.outcome, notes, preview: { row: result.row, hasId: event.eventId !== undefined } }
    }
    if (notes.length > 0) intake.countNotes(notes)
    return { outcome: result, notes }
  })
}
