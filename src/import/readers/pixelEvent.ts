import type { PixelEvent } from '../../writer/tables/pixelEvent.ts'
import { type RowReader, rowReader } from '../fields.ts'
import * as kind from '../fieldTypes.ts'
import { RowError } from '../rowError.ts'

/**
 * @param nowMs when rows without times of their own occurred and were received
 * @returns the reader of pixel events of an account; `userId` is empty where the row does not say
 */
export function pixelEventReader(accountId: string, nowMs: number): RowReader<PixelEvent> {
  const read = rowReader<PixelEvent>({
    name: 'pixel-events',
    required: ['id', 'eventName'],
    ignored: [],
    fields: {
      id: kind.eventId,
      eventName: kind.eventName,
      clickId: kind.id,
      visitorId: kind.id,
      campaignId: kind.id,
      userId: kind.id,
      value: kind.signal,
      currency: kind.currency,
      properties: kind.properties,
      occurredAt: kind.instant,
      receivedAt: kind.instant,
      origin: kind.words(['browser', 'server']),
      generation: kind.generation,
    },
    blank: () => ({
      accountId,
      origin: 'browser',
      id: '',
      generation: 0,
      eventName: '',
      clickId: '',
      visitorId: '',
      campaignId: '',
      userId: '',
      value: null,
      currency: '',
      properties: '',
      occurredAt: nowMs,
      receivedAt: nowMs,
    }),
  })
  return (fields, from) => {
    const event = read(fields, from)
    if (event.clickId === '' && event.visitorId === '') throw new RowError('clickId: is required, or visitorId')
    return event
  }
}
