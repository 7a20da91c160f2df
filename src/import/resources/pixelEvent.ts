import { eventOrigins } from '../../../schema/event.ts'
import { blankRow } from '../../stores/clickhouse/columnKinds.ts'
import { pixelEventFields } from '../../stores/clickhouse/tableColumns.ts'
import type { Given } from '../../writer/tables/givenFields.ts'
import { type PixelEvent, pixelEventRowFields } from '../../writer/tables/pixelEvent.ts'
import { typesOf } from '../readers/fieldTypes.ts'
import { RowError } from '../readers/rowError.ts'
import { type RowReader, type RowShape, rowReader } from '../readers/rowReader.ts'
import { eventId, eventName, oneOf } from '../readers/texts.ts'

export const pixelEventShape: RowShape<PixelEvent> = {
  name: 'pixel-events',
  required: ['id', 'eventName'],
  ignored: ['campaignName', 'storedAt', 'cursor'],
  fields: {
    ...(typesOf(pixelEventFields) as RowShape<PixelEvent>['fields']),
    id: eventId,
    origin: oneOf(eventOrigins),
    eventName,
  },
}

/**
 * @param isMoved whether `account export` wrote the rows; an erased event may have neither a click nor a visitor
 * @returns the reader of pixel events; an absent `userId` is empty
 */
export function pixelEventReader(isMoved = false): RowReader<PixelEvent & Given> {
  const blank = { ...blankRow(pixelEventRowFields), origin: 'browser', given: 0 }
  const read = rowReader<PixelEvent & Given>(pixelEventShape, blank)
  return (fields, input) => {
    const event = read(fields, input)
    if (!isMoved && event.clickId === '' && event.visitorId === '') {
      throw new RowError('clickId: is required, or visitorId')
    }
    return event
  }
}
