import type { Metric } from '../../schema/metrics.ts'
import type { Cell } from './csvWriter.ts'

/**
 * The cells of the earlier metrics in a table with `compare`.
 * @param values by metric; undefined if there is no earlier row; the cells are then empty
 * @returns `previous_<metric>` of each metric, in their order
 */
export function previousCells(
  metrics: readonly Metric[],
  values?: { readonly [Name in Metric]?: number | null | undefined },
): Record<string, Cell> {
  return Object.fromEntries(metrics.map((metric) => [`previous_${metric}`, values?.[metric] ?? null]))
}
