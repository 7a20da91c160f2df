import type { Metric } from '../../schema/metrics.ts'
import type { Cell } from './csvWriter.ts'

/** The cells `previous_<metric>` of a table with `compare`, in the order of the metrics; empty if there is no earlier row. */
export function previousCells(
  metrics: readonly Metric[],
  values?: { readonly [Name in Metric]?: number | null | undefined },
): Record<string, Cell> {
  return Object.fromEntries(metrics.map((metric) => [`previous_${metric}`, values?.[metric] ?? null]))
}
