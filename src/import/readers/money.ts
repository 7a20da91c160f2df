import { readMoney, withNumberText } from './amounts.ts'
import { InvalidValue, RowError, replacing } from './rowError.ts'
import type { FieldType } from './texts.ts'
import { decimalSigns, readWritten } from './writtenAmounts.ts'

/** An amount, as the file writes it. */
export const money: FieldType<bigint> = (value, { decimal, hasCommas } = {}, note) => {
  if (typeof value !== 'string') return readMoney(value, note)
  const text = value.trim()
  const written = decimal && readWritten(text, decimal)
  if (written) return readMoney(written.plain, note)
  if (!decimal && hasCommas && /\.\d{3}$/.test(text))
    throw new RowError(`${text} may be ${text.replace('.', ',')}: --decimal`)
  if (decimal !== 'comma' && typeof withNumberText(text) !== 'string') return readMoney(value, note)
  const reading = decimalSigns.filter((sign) => readWritten(text, sign)).map((sign) => `--decimal ${sign}`)
  throw new InvalidValue('must be a number', (field, shown) =>
    reading.length > 0 ? `${reading.join(' or ')} reads ${shown}` : replacing(field, shown),
  )
}
