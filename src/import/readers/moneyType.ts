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
    if (decimal === 'comma') throw new RowError('must be a number with a decimal comma')
    if (hasCommas && /\.\d{3}$/.test(text)) throw new RowError(`${text} may be ${text.replace('.', ',')}: --decimal`)
    const isNumber = typeof withNumberText(text) !== 'string'
    const reading = isNumber ? [] : decimalSigns.filter((sign) => readWritten(text, sign))
    const options = reading.map((sign) => `--decimal ${sign}`).join(' or ')
    if (options !== '') throw new InvalidValue('must be a number', () => `${options} reads ${text}`)
    if (/^(?:[-\u2013\u2014]+|\(.*\))$/.test(text)) throw new InvalidValue('must be a number', replacing)
    return readMoney(value, note)
  }
}
