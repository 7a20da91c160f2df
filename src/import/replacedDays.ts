import { columnName } from '../stores/clickhouse/columnKinds.ts'
import { ch, identifier, instant, join, text } from '../stores/clickhouse/sql.ts'
import { dayMs } from '../stores/timing/units.ts'
import type { Writer } from '../writer/fence/session.ts'
import { openLookUps, RowBatch, type RowToStore } from '../writer/store/rowBatch.ts'
import type { Cost } from '../writer/tables/cost.ts'
import { givenBit } from '../writer/tables/givenFields.ts'
import { costTable } from '../writer/upserts/changingTables.ts'
import { type RowReading, readCurrentRows } from '../writer/upserts/currentRows.ts'
import { shapeOf } from './header.ts'
import type { ImportOptions } from './options.ts'
import type { RawRow } from './parsers/ndjsonParser.ts'
import { type Mapping, noMapping } from './readers/mapping.ts'
import { prepare } from './readers/rowReader.ts'
import { derivedId, dimensionNames, type ReadCost } from './resources/cost.ts'
import type { Sheet } from './survey.ts'
import type { Tally } from './tally.ts'

/** Costs of one batch. */
const rowsMax = 10_000

/** @returns the dimensions that constants give to every cost */
export function constantDimensions(mapping: Mapping) {
  const { template } = prepare<Record<string, unknown>>(shapeOf('costs'), {}, { ...mapping, from: 'cells' })
  return dimensionNames.flatMap((name) => (template[name] ? [{ name, value: `${template[name]}` }] : []))
}

/**
 * Opens the stored costs that a sheet replaces. Each of them has a local day of the sheet, the constants of the sheet and a derived id,
 * and its other dimensions are columns of the sheet. A day stays as it is if a stored cost has a later `updatedAt` than the sheet. It also
 * stays if a cost of another file has the same `updatedAt`, and the sheet has another value of that cost or lacks it.
 * @param reader reads under the lease, or in a dry run without one
 * @param tally counts the rows of days that stay as they are
 */
export async function openReplacedDays(reader: RowReading, options: ImportOptions, sheet: Sheet, tally: Tally) {
  const { account, mapping = noMapping, nowMs } = options
  const { localInstant = (ms) => ms, localTime = (ms) => ms, updatedAtMs = nowMs } = mapping
  const constants = constantDimensions(mapping)
  const known = new Set([...sheet.fields, ...constants.map(({ name }) => name)])
  const later = new Set<number>()
  /** By their day, costs with the time of the sheet. */
  const simultaneous = new Map<number, Cost[]>()
  for (const day of sheet.days) {
    const rows = await readDay(day)
    if (rows.some(({ updatedAt }) => updatedAt > updatedAtMs)) later.add(day)
    const equal = rows.filter(({ updatedAt }) => updatedAt === updatedAtMs)
    if (equal.length > 0) simultaneous.set(day, equal)
  }
  /** Rows of these days, which are stored if the days agree. */
  const held: (readonly [RowToStore, RawRow])[] = []
  const conflicting = new Set<number>()
  let importFile = ''

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
    /** @returns whether a row of the sheet is stored now; the others are counted, or held */
    admits(decoded: RowToStore, raw: RawRow): boolean {
      const row = decoded.row as ReadCost
      importFile = row.importFile
      if (later.has(row.spentDay)) {
        tally.duplicates += 1
        tally.older += 1
      } else if (simultaneous.has(row.spentDay)) held.push([decoded, raw])
      else return true
      return false
    },

    /**
     * Call it when all rows were read.
     * @param warn receives the days that stay as they are, and what to do
     * @returns the held rows of the other days
     */
    release(warn: (line: string) => void) {
      const rows = new Map(held.map(([{ row }]) => [(row as ReadCost).id, row as ReadCost]))
      for (const [day, stored] of simultaneous)
        for (const before of stored) {
          const row = rows.get(before.id)
          const differs = row ? costTable.differingField(row, before) !== undefined : before.cost !== 0n
          // The file itself has a later line of a cost that another mapping has set to 0.
          if (differs && (before.importFile !== importFile || (row && row.importLine < before.importLine)))
            conflicting.add(day)
        }
      const isConflicting = ([{ row }]: (typeof held)[number]) => conflicting.has((row as ReadCost).spentDay)
      const kept = held.filter(isConflicting).length
      tally.duplicates += kept
      tally.conflicting += kept
      if (conflicting.size > 0) {
        const days = [...conflicting].map((day) => new Date(day * dayMs).toISOString().slice(0, 10))
        const later = new Date(Math.max(nowMs, updatedAtMs + 1_000)).toISOString()
        warn(
          `warning: another sheet with the same --updated-at has other costs of ${days.slice(0, 3).join(', ')}${days.length > 3 ? ', …' : ''}, so they were not replaced. If this sheet counts, import it with a later time: --updated-at ${later}.`,
        )
      }
      return held.filter((one) => !isConflicting(one))
    },

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
        if (later.has(day) || conflicting.has(day)) continue
        for (const row of await readDay(day)) {
          if (ids.has(row.id) || row.cost === 0n) continue
          replaced.rows += 1
          replaced.cost += row.costBase ?? 0n
          replaced.storedMs = Math.max(replaced.storedMs, row.version / 1_000)
          // A later line, so it counts at an equal `updatedAt` too, which the same file can have with another mapping.
          const zero = { cost: 0n, costBase: 0n, updatedAt: updatedAtMs, given: givenBit('updatedAt') }
          batch?.add({ table: 'costs', row: { ...row, ...zero, importFile, importLine: row.importLine + 1 } })
        }
        if (batch && batch.size >= rowsMax) await batch.store(nowMs)
      }
      await batch?.store(nowMs)
      return replaced
    },
  }
}
