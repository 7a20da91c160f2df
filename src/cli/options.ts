import { InvalidArgumentError, Option } from 'commander'
import { idPattern } from '../../schema/scalars.ts'
import { isDisplayName } from '../export/accountFolder.ts'
import { Problem } from '../problem.ts'
import { dayMs, hourMs } from '../stores/timing/units.ts'
import { UsageError } from './errors.ts'

/** Largest `integer` of Postgres. */
const integerMax = 2_147_483_647

export const retainedMonthsMax = 1_200

/**
 * Returns a parser of an option.
 * @param read undefined: the text is not valid
 * @param allowed says which texts are, a sentence
 */
export function parserOf<Value>(read: (text: string) => Value | undefined, allowed: string): (text: string) => Value {
  return (text) => {
    const value = read(text)
    if (value === undefined) throw new InvalidArgumentError(allowed)
    return value
  }
}

/** Returns a parser of an option that is a whole number from `minimum` to `maximum`, inclusive. */
export function wholeNumberFrom(minimum: number, maximum: number = integerMax): (text: string) => number {
  const isAllowed = (text: string) => /^\d{1,10}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum
  return parserOf(
    (text) => (isAllowed(text) ? Number(text) : undefined),
    `Use a whole number from ${minimum} to ${maximum}.`,
  )
}

const unitMs = { d: dayMs, h: hourMs } as const

/** @returns milliseconds; undefined if the text is no number of days or hours */
export function durationMs(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,5})([dh])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * unitMs[unit as keyof typeof unitMs]
}

export const parseDuration = parserOf(durationMs, 'Use hours or days, such as 6h or 2d.')

export const parseId = parserOf(
  (text) => new RegExp(idPattern).exec(text)?.[0],
  'An id has 1 to 64 characters: letters, digits and _ . : -',
)

export const parseName = parserOf((text) => [text.trim()].find(isDisplayName), 'A name has 1 to 200 characters.')

export function accountOption(): Option {
  return new Option('--account <id>', 'id of the account').argParser(parseId).makeOptionMandatory()
}

/** Values of `--from` and `--to`. */
export interface RangeOptions {
  from?: string
  to?: string
}

/**
 * Reads options as the API reads its parameters.
 * @param textOf the message of a problem of the API
 * @throws UsageError
 */
export function readAsApi<Value>(read: () => Value, textOf = ({ message }: Problem) => message): Value {
  try {
    return read()
  } catch (error) {
    throw error instanceof Problem && error.status === 400 ? new UsageError(textOf(error)) : error
  }
}
