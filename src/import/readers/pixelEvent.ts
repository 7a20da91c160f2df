import { eventOrigins } from '../../../schema/event.ts'
import { blankRow } from '../../stores/clickhouse/columnKinds.ts'
import { type PixelEvent, pixelEventRowFields } from '../../writer/tables/pixelEvent.ts'
import * as fieldTypes from './fieldTypes.ts'
import { importedColumns, type RowReader, type RowShape, rowReader } from './rowDecoder.ts'
import { RowError } from './rowError.ts'

const shape: RowShape<PixelEvent> = {
  name: 'pixel-events',
  required: ['id', 'eventName'],
  ignored: ['campaignName', 'storedAt', 'cursor'],
  fields: {
    id: fieldTypes.eventId,
    eventName: fieldTypes.eventName,
    clickId: fieldTypes.id,
    visitorId: fieldTypes.id,
    campaignId: fieldTypes.id,
    userId: fieldTypes.id,
    value: fieldTypes.signal,
    currency: fieldTypes.currency,
    properties: fieldTypes.properties,
    occurredAt: fieldTypes.instant,
    receivedAt: fieldTypes.instant,
    origin: fieldTypes.words(eventOrigins),
    generation: fieldTypes.generation,
  },
}

export const pixelEventColumns = importedColumns(shape)

/**
 * @param nowMs `occurredAt` and `receivedAt` of rows without them, epoch milliseconds
 * @returns the reader of pixel events of an account; an absent `userId` is empty
 */
export function pixelEventReader(accountId: string, nowMs: number): RowReader<PixelEvent> {
  const read = rowReader(shape, {
    ...blankRow(pixelEventRowFields),
    accountId,
    origin: 'browser',
    occurredAt: nowMs,
    receivedAt: nowMs,
  })
  return (fields, from) => {
    const event = read(fields, from)
    if (event.clickId === '' && event.visitorId === '') throw new RowError('clickId: is required, or visitorId')
    return event
  }
}
