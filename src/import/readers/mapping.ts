import type { DateOrder } from '../../query/timeText.ts'
import type { Decimal } from './amounts.ts'
import type { DecimalSign } from './writtenAmounts.ts'

export type Pairs = readonly (readonly [string, string])[]

/** How the columns of a file differ from the fields of its resource: options of `tributary import`. */
export interface Mapping {
  /** Columns and their fields; a column whose field is empty is not read. */
  readonly map: Pairs
  /** Fields that are equal in every row, and their texts as in CSV cells. */
  readonly constant: Pairs
  /** `field:text` with a text of the file, and the text as in CSV cells that it stands for. */
  readonly values: Pairs
  /** Of times without offset, as `localInstantsOf` returns it; undefined: they are rejected. */
  readonly localInstant?: ((localMs: number) => number) | undefined
  /** The inverse function, which `localTimesOf` returns. Undefined: a day is a day of UTC. */
  readonly localTime?: ((epochMs: number) => number) | undefined
  /** Of dates such as 11/12/2026; undefined: they are rejected. */
  readonly dateOrder?: DateOrder | undefined
  /** How amounts are written; undefined: as plain numbers. */
  readonly decimal?: DecimalSign | undefined
  /** Whether an amount of the file can only be read with a decimal comma. */
  readonly hasCommas?: boolean
  /** Whether messages name the options of an import; unless given, they do. */
  readonly namesOptions?: boolean
  /** A function is called with the name of each unknown field. */
  readonly ignoreUnknown?: boolean | ((name: string) => void)
  /** Whether ids with other characters, and ids that are too long, become their SHA-256. */
  readonly hashIds?: boolean
  /** Whether ids that are too long become their SHA-256. */
  readonly hashLongIds?: boolean
  /** Account currency per unit, by currency; a row's own `exchangeRate` counts first. */
  readonly rates?: ReadonlyMap<string, Decimal> | undefined
  /** Whether rows of totals are stored. */
  readonly keepTotals?: boolean
  /** `updatedAt` of conversions and costs without their own, epoch milliseconds. */
  readonly updatedAtMs?: number | undefined
  /** Whether costs of the days of the file become 0 if the file lacks them. */
  readonly replaceDays?: boolean
}

/** What the values of a row are: JSON values, or texts of CSV cells. */
export interface Input extends Mapping {
  readonly from: 'json' | 'cells'
  /** Whether `account export` wrote the rows. */
  readonly isMoved?: boolean
  /** Called for each value of a field that changes, with what is stored instead. */
  readonly note?: (field: string, message: string, value: unknown) => void
}

export const noMapping: Mapping = { map: [], constant: [], values: [] }
export const jsonInput: Input = { ...noMapping, from: 'json' }

/** @returns the fields that a mapping sets; a column with the name of one of them is not read */
export function mappedFields({ map, constant }: Mapping): string[] {
  return [...map.map(([, field]) => field), ...constant.map(([field]) => field)].filter((field) => field !== '')
}
