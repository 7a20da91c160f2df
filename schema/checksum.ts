import { type Static, type TProperties, Type } from '@sinclair/typebox'
import { datePattern } from './range.ts'
import { described, Instant, Named, optional } from './scalars.ts'

export const ChecksumQuery = Type.Object({
  from: Type.String({ pattern: datePattern, description: 'First UTC day.', examples: ['2026-11-20'] }),
  ...optional({
    to: Type.String({
      pattern: datePattern,
      description: 'Last UTC day, included; default today. At most 366 days.',
    }),
  }),
})
export type ChecksumQuery = Static<typeof ChecksumQuery>

/**
 * Checksums of the rows of each day.
 * @param $id name of the schema of a day
 * @param day name of the time whose UTC day counts
 * @param amount the sum that a day has besides; events have none
 * @param fields further fields of the response
 * @param key what identifies a row
 */
function Checksums<Amounts extends TProperties, Fields extends TProperties>(
  $id: string,
  day: string,
  amount: Amounts,
  fields: Fields,
  key = 'id',
) {
  return Type.Object({
    asOf: described(
      Instant,
      'The checksums include the rows with a `storedAt` before this time; later writes get a later `storedAt`. In your copy, compare the rows with a `storedAt` before this time.',
    ),
    data: Type.Array(
      Named($id, {
        day: Type.String({ format: 'date', description: `UTC day of \`${day}\`. Days without rows are omitted.` }),
        rows: Type.Integer({ minimum: 1, description: 'Number of rows, including tests and bots.' }),
        ...amount,
        hash: Type.String({
          pattern: '^[0-9a-f]{15}$',
          description: `XOR over the rows of the first 15 hexadecimal digits of MD5(\`${key}|${day}|storedAt\`), with times as in a response; lower case, with leading zeros.`,
          examples: ['0a1b2c3d4e5f607'],
        }),
      }),
    ),
    ...fields,
  })
}

/** Field of checksums of rows that an account may remove by age. */
const retainedFrom = optional({
  retainedFrom: described(
    Instant,
    'Present if the range begins before this time: the account has removed earlier rows by its retention, and their days are omitted. Your copy may keep them.',
  ),
})

const costBase = { costBase: Type.Number({ description: 'Sum of `costBase`.' }) }
const revenueBase = { revenueBase: Type.Number({ description: 'Sum of `revenueBase`, of any status.' }) }

export const ClickChecksums = Checksums('ClickChecksum', 'clickedAt', costBase, retainedFrom)
export const ConversionChecksums = Checksums('ConversionChecksum', 'convertedAt', revenueBase, {})
export const CostChecksums = Checksums('CostChecksum', 'spentAt', costBase, retainedFrom)
export const EventChecksums = Checksums('EventChecksum', 'occurredAt', {}, retainedFrom, 'origin|id|generation')
