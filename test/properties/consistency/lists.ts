import { ClickPage } from '../../../schema/click.ts'
import { ConversionPage } from '../../../schema/conversion.ts'
import type { Metrics } from '../../../schema/metrics.ts'
import type { TestApp } from '../../kit/app.ts'
import { metricsOf } from './model.ts'

// What the lists of the API say.

/** Reads all rows of a list, page by page. */
export async function readAllPages<T extends typeof ClickPage | typeof ConversionPage>(
  api: TestApp,
  path: string,
  limit: number,
  key: string,
  schema: T,
): Promise<T['static']['data']> {
  const rows: T['static']['data'] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const next: string = cursor === '' ? '' : `&cursor=${cursor}`
    const page = (await api.read(
      `${path}${path.endsWith('?') ? '' : '&'}limit=${limit}${next}`,
      key,
      schema,
    )) as T['static']
    rows.push(...(page.data as never[]))
    cursor = page.nextCursor
  }
  return rows
}

/** Computes metrics from the rows of the lists. @param query range and filters */
export async function metricsOfLists(api: TestApp, key: string, query: string, limit: number): Promise<Metrics> {
  const clicks = await readAllPages(api, `/clicks?${query}`, limit, key, ClickPage)
  const conversions = await readAllPages(api, `/conversions?${query}`, limit, key, ConversionPage)
  return metricsOf(
    clicks
      .filter(({ isBot, isTest }) => !isBot && !isTest)
      .map(({ costBase }) => ({ atMs: 0, attributes: {}, cost: toMillionths(costBase) })),
    conversions.map(({ status, revenueBase }) => ({
      ...{ atMs: 0, attributes: {}, status, revenue: toMillionths(revenueBase) },
    })),
  )
}

/** Exact: a double with at most 15 digits stands for one number of millionths. */
function toMillionths(units: number | null): bigint {
  return BigInt(Math.round((units ?? 0) * 1e6))
}
