import { printable } from './printable.ts'
import type { Reject } from './rejects.ts'

/** Reasons that a summary shows. */
const shownReasons = 5
/** Reasons with a count of their own; the rows of any other reason are counted together. */
const countedReasons = 1_000
const shownCharacters = 200

/** Counts rejected rows by reason, with the first row of each. */
export class RejectReasons {
  readonly #counts = new Map<string, { rows: number; firstLine: number; firstRow: string }>()
  #otherRows = 0

  add({ line, reason, row }: Reject): void {
    const count = this.#counts.get(reason)
    if (count) count.rows += 1
    else if (this.#counts.size >= countedReasons) this.#otherRows += 1
    else this.#counts.set(reason, { rows: 1, firstLine: line, firstRow: printable(row ?? '', shownCharacters) })
  }

  /** Returns the most frequent reasons in two lines each: rows and reason; then the first such row. Empty without rejects. */
  summary(): string[] {
    const counts = [...this.#counts].sort(([, one], [, other]) => other.rows - one.rows)
    if (counts.length === 0) return []
    const sumRows = (some: typeof counts) => some.reduce((sum, [, { rows }]) => sum + rows, 0)
    const hidden = counts.slice(shownReasons)
    const hiddenRows = sumRows(hidden) + this.#otherRows
    return [
      `Rejected rows: ${sumRows(counts) + this.#otherRows}. Most frequent reasons:`,
      ...counts.slice(0, shownReasons).flatMap(([reason, { rows, firstLine, firstRow }]) => {
        const prefix = `  ${rows} × `
        return [
          `${prefix}${printable(reason, shownCharacters)}`,
          `${' '.repeat(prefix.length)}line ${firstLine}: ${firstRow}`,
        ]
      }),
      ...(hiddenRows > 0 ? [`  ${hiddenRows} × other reasons`] : []),
    ]
  }
}
