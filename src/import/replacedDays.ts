import { columnName } from '../stores/clickhouse/columnKinds.ts'
import { ch, identifier, instant, join, text } from '../stores/clickhouse/sql.ts'
import { dayMs } from '../stores/timing/units.ts'
import type { Writer } from '../writer/fence/session.ts'
import { openLookUps, RowBatch } from '../writer/store/rowBatch.ts'
import type { Cost } from '../writer/tables/cost.ts'
import { givenBit } from '../writer/tables/givenFields.ts'
import { costTable } from '../writer/upserts/changingTables.ts'
import { type RowReading, readCurrentRows } from '../writer/upserts/currentRows.ts'
import { shapeOf } from './header.ts'
import type { ImportOptions } from './options.ts'
import { type Mapping, noMapping } from './readers/mapping.ts'
import { prepare } from './readers/rowDecoder.ts'
import { derivedId, dimensionNames } from './resources/cost.ts'
import type { Sheet } from './survey.ts'

/** Costs of one batch. */
const rowsMax = 10_000

/** @returns the dimensions that constants give to every cost */
export function constantDimensions(mapping: Mapping) {
  const { template } = prepare<Record<string, unknown>>(shapeOf('costs'), {}, { ...mapping, from: 'cells' })
  return dimensionNames.flatMap((name) => (template[name] ? [{ name, value: `${template[name]}` }] : []))
}

/**
 * Opens the stored costs that a sheet replaces. Each of them has a local day of the sheet, the constants of the sheet and a derived id,
 * and its other dimensions are columns of the sheet. A day with a stored cost whose `updatedAt` is later than the sheet's stays as it is.
 * @param reader reads under the lease, or in a dry run without one
 */
export async function openReplacedDays(reader: RowReading, options: ImportOptions, sheet: Sheet) {
  const { account, mapping = noMapping, nowMs } = options
  const { localInstant = (ms) => ms, localTime = (ms) => ms, updatedAtMs = nowMs } = mapping
  const constants = constantDimensions(mapping)
  const known = new Set([...sheet.fields, ...constants.map(({ name }) => name)])
  const later = new Set<number>()
  for (const day of sheet.days)
    if ((await readDay(day)).some(({ updatedAt }) => updatedAt > updatedAtMs)) later.add(day)

  async function readDay(day: number): Promise<Cost[]> {
    const where = join(
      [
        ch`account_id = ${text(account.id)}`,
        ch`spent_at >= ${instant(localInstant(day * dayMs))}`,
        ch`spent_at < ${instant(localInstant((day + 1) * dayMs))}`,
        ...constants.map(({ name, value }) => ch`${identifier(columnName(name))} = ${text(value)}`),
      ],
      '\n  AND ',
    )
    const rows = await readCurrentRows(reader, costTable, where, 'reading a replaced day', 'import.replaced_day')
    const hasAll = known.has('subIds')
    const isKnown = (name: string) => known.has(name) || (hasAll && name.startsWith('sub'))
    const isOfSheet = (row: Cost) => dimensionNames.every((name) => row[name] === '' || isKnown(name))
    return rows.filter((row) => isOfSheet(row) && hasDerivedId(row, day))
  }

  /** TRAP: the first moment of a date is later than its midnight where clocks change at midnight. */
  function hasDerivedId(row: Cost, day: number): boolean {
    const withoutZone = [localTime(row.spentAt), day * dayMs].map((ms) => new Date(ms).toISOString().slice(0, -1))
    return [...withoutZone, new Date(row.spentAt).toISOString()].some((time) => derivedId(time, row) === row.id)
  }

  return {
    /** Whether a later sheet of its day is stored. */
    isOlder: (row: { spentDay: number }): boolean => later.has(row.spentDay),

    /**
     * Sets the costs that the sheet lacks to 0; call it when its rows are stored. A repetition completes it.
     * @param writer undefined: only counts them
     * @param ids derived ids of the sheet
     * @returns their number, their sum, millionths of the account's currency, and when the latest was stored, epoch milliseconds
     */
    async replace(writer: Writer | undefined, ids: ReadonlyMap<string, unknown>) {
      const batch = writer && new RowBatch(writer, openLookUps(writer, { rows: 0 }))
      const replaced = { rows: 0, cost: 0n, storedMs: 0 }
      for (const day of sheet.days) {
        if (later.has(day)) continue
        for (const row of await readDay(day)) {
          if (ids.has(row.id) || row.cost === 0n) continue
          replaced.rows += 1
          replaced.cost += row.costBase ?? 0n
          replaced.storedMs = Math.max(replaced.storedMs, row.version / 1_000)
          // A later line of the file that the row came from: so it counts at an equal `updatedAt` too.
          const of = { updatedAt: updatedAtMs, given: givenBit('updatedAt'), importLine: row.importLine + 1 }
          batch?.add({ table: 'costs', row: { ...row, cost: 0n, costBase: 0n, ...of } })
        }
        if (batch && batch.size >= rowsMax) await batch.store(nowMs)
      }
      await batch?.store(nowMs)
      return replaced
    },
  }
}
