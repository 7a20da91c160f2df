import { readMoney, withNumberText } from './amounts.ts'
import { InvalidValue, RowError, replacing } from './rowError.ts'
import type { FieldType } from './texts.ts'
import { type DecimalSign, decimalSigns, readWritten } from './writtenAmounts.ts'

/** How a file writes amounts. */
export interface AmountOptions {
  /** Undefined: plain numbers. */
  readonly decimal?: DecimalSign | undefined
  /** Whether an amount of the file can only be read with a decimal comma. */
  readonly hasCommas?: boolean
}

/** The type of the amounts of a file. */
export function moneyType({ decimal, hasCommas }: AmountOptions): FieldType<bigint> {
  return (value, note) => {
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
}
