import { hideableNames, type KeyView } from '../../schema/keyView.ts'
import { type ReportMetric, reportMetricNames } from '../../schema/metrics.ts'
import { columnName } from '../stores/clickhouse/columnKinds.ts'
import { type Fragment, render } from '../stores/clickhouse/sql.ts'
import { clickFields, conversionFields } from '../stores/clickhouse/tableColumns.ts'
import { definitionOf, operandsOf } from './metricDefinitions.ts'

/** The part of an account that a caller sees. */
export interface View extends KeyView {
  /** The same text for equal parts, in every version: for cursors, and keys of caches. */
  id: string
  /** Metrics and fields of rows that do not exist for the caller. */
  hiddenNames: ReadonlySet<string>
}

/** @returns the view of a key; null: the key sees the whole account */
export function viewOf(stored: KeyView | null): View | null {
  if (!stored) return null
  const { filters, hidden } = stored
  const hiddenNames = new Set(hidden.flatMap((name) => hiddenWith[name] ?? []))
  const selected = Object.entries(filters).map(([name, values]) => [name, ...sorted(values)].join('\0'))
  return { id: JSON.stringify([sorted(selected), sorted(hidden)]), filters, hidden, hiddenNames }
}

const sorted = (names: readonly string[]): string[] => [...new Set(names)].toSorted()

/** What is hidden with each name: fields of rows, and all metrics that read one of them. */
const hiddenWith: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  hideableNames.map((name) => {
    const fields = [name, `${name}Base`].filter((field) => field in clickFields || field in conversionFields)
    return [name, [...reportMetricNames.filter((metric) => readsOneOf(fields, metric)), ...fields]]
  }),
)

function readsOneOf(fields: readonly string[], metric: ReportMetric): boolean {
  const columns = fields.map(columnName)
  const isRead = (sum: Fragment) =>
    render(sum)
      .text.split(/\W+/)
      .some((word) => columns.includes(word))
  return operandsOf(metric).some((operand) => {
    const definition = definitionOf(operand)
    return 'ofRows' in definition && Object.values(definition.ofRows).some(isRead)
  })
}

/** Amounts of rows, which have one currency. */
const amounts = ['cost', 'revenue', 'payout']

/**
 * Selects the names that a caller sees, in their order. The currency of a row says that it has an amount: it is hidden with all amounts of the row.
 * @param names metrics, or fields of one kind of rows; also of an order, `-change.cost`
 */
export function visible<Name extends string>(names: readonly Name[], view: View | null): readonly Name[] {
  if (!view) return names
  const ofRows = amounts.filter((amount) => (names as readonly string[]).includes(amount))
  const isHidden = (name: string): boolean =>
    view.hiddenNames.has(name) || (name === 'currency' && ofRows.length > 0 && ofRows.every(isHidden))
  return names.filter((name) => !isHidden(name.replace(/^-?(change\.)?/, '')))
}
