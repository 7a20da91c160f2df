import { fromMillionths } from '../query/money.ts'

export type SheetLine = { line: number }

/** A row whose columns of dimensions are empty, dashes, or texts of totals, such as `Total: Account`. */
export interface RowWithoutDimensions extends SheetLine {
  /** Its text of a total, if it has one. */
  label: string | undefined
  /** Millionths; undefined: invalid. */
  amount: bigint | undefined
  /** Undefined: it has the sum of any currency. */
  currency: string | undefined
  /** Local day; undefined: absent or invalid. */
  day: number | undefined
}

/** In other languages the word must stand alone, or before a colon: `Gesamt: Konto`. */
const total =
  /^\s*(?:(?:grand|overall|sub)[ -]?)?(?:total|(?:gesamt|gesamtsumme|summe|totaal|suma|razem|итого|合計|総計|合计|总计|합계)(?=\s*(?::|$)))/i

/** @returns the text of a row of totals, as `Total: Account` or `Grand Total:` */
export const totalLabel = (cells: readonly string[]): string | undefined =>
  cells.find((cell) => total.test(cell))?.trim()

/** Whether a cell names nothing. */
export const isEmptyCell = (cell: string): boolean => /^-{0,3}$/.test(cell.trim()) || totalLabel([cell]) !== undefined

/** Whether a cell is the word total, so that a row with other dimensions is a subtotal. */
export const isSubtotal = (cell: string): boolean => /^\s*(?:sub[ -]?)?totals?:?\s*$/i.test(cell)

/** Exact sums of the rows that have dimensions, millionths, by currency and day, and by currency. */
export class SheetSums {
  readonly #sums = new Map<string, Map<number | undefined, bigint>>()

  add(currency: string, day: number | undefined, amount: bigint): void {
    const sums = this.#sums.get(currency) ?? new Map<number | undefined, bigint>()
    this.#sums.set(currency, sums)
    for (const key of new Set([day, undefined])) sums.set(key, (sums.get(key) ?? 0n) + amount)
  }

  /** @returns the sum of the row's day, or of all rows, that its amount has; else the sum of all; `no amount` without rows */
  comparedTo({ amount, currency, day }: RowWithoutDimensions): { agrees: boolean; sum: string } {
    const sums = [...this.#sums]
      .filter(([name]) => currency === undefined || currency === name)
      .flatMap(([name, ofDays]) => [day, undefined].map((key) => ({ name, sum: ofDays.get(key) })))
    const equal = sums.find(({ sum }) => amount !== undefined && sum !== undefined && isAlmost(amount, sum))
    const { name = '', sum } = equal ?? sums.at(-1) ?? {}
    return { agrees: equal !== undefined, sum: `${shown(sum)} ${name}`.trim() }
  }
}

/** Amounts may have been rounded: 0.001 %, at least 0.01. */
function isAlmost(amount: bigint, sum: bigint): boolean {
  const difference = amount > sum ? amount - sum : sum - amount
  return difference <= 10_000n || difference * 100_000n <= (sum < 0n ? -sum : sum)
}

const shown = (amount: bigint | undefined): string => (amount === undefined ? 'no amount' : `${fromMillionths(amount)}`)

/**
 * Decides which rows without dimensions are totals: those with a label, and those with the sum of the other rows.
 * @param subtotals lines of rows that are totals of a part of the others
 * @returns the lines of both, and what is said about them
 */
export function findTotals(rows: readonly RowWithoutDimensions[], sums: SheetSums, subtotals: readonly SheetLine[]) {
  const compared = rows.map((row) => ({ ...row, ...sums.comparedTo(row) }))
  const totals = compared.filter(({ agrees, label }) => agrees || label !== undefined)
  const others = compared.filter((row) => !totals.includes(row) && row.amount !== undefined && row.day !== undefined)
  const sentences = totals.flatMap(({ agrees, line, label, amount, sum }) =>
    agrees ? [] : [`warning: line ${line} (${label}) has ${shown(amount)}, but the other rows have ${sum}.`],
  )
  const agreeing = totals.filter(({ agrees }) => agrees)
  if (agreeing[0])
    sentences.push(`Totals that agree with the sum of the other rows: ${agreeing.length}, ${agreeing[0].sum}.`)
  const warn = (about: string, all: readonly SheetLine[]) => {
    if (all[0]) sentences.push(`warning: ${about}: ${all.length}, first line ${all[0].line}.`)
  }
  warn('rows without a dimension of --map are stored', others)
  warn('subtotals are stored only with --keep-totals', subtotals)
  return { totals: new Set([...totals, ...subtotals].map(({ line }) => line)), sentences }
}
