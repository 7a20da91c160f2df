import { readRetainedRanges } from '../stores/postgres/retainedRanges.ts'
import { ErasedIdentifiers } from '../writer/erasure/erasedIdentifiers.ts'
import type { Writer } from '../writer/fence/session.ts'
import type { RowToStore } from '../writer/store/rowBatch.ts'
import { type Alteration, type AlteredValue, countAltered } from './alteredValues.ts'
import { mappedColumns } from './header.ts'
import type { ImportOptions } from './options.ts'
import type { RawRow } from './parsers/ndjsonParser.ts'
import { type Input, noMapping } from './readers/mapping.ts'
import { RowError } from './readers/rowError.ts'
import { importTables } from './resourceNames.ts'
import { assertFirst, type ReadCost } from './resources/cost.ts'
import { decodeRow, type RowSource, readerOf } from './rows.ts'
import type { ImportSource } from './source.ts'

/**
 * Reads what decides whether an account stores the rows of a source.
 * @param writer undefined in a dry run
 * @param altered counts the values of stored rows that change
 */
export async function openDecoder(
  stores: Writer['stores'],
  writer: Writer | undefined,
  { resource, account, nowMs, mapping, isMoved = false }: ImportOptions,
  source: ImportSource,
  altered: AlteredValue[],
) {
  const table = importTables[resource]
  let alterations: Alteration[] = []
  const note: Input['note'] = (field, message, value) => alterations.push({ field, message, value })
  const input: Input = { ...noMapping, ...mapping, from: source.from, isMoved, note }
  const read = readerOf(resource, account.currency, isMoved)
  const retained = await (writer?.readRetained() ?? readRetainedRanges(stores.postgres, account.id))
  const erased =
    writer && !isMoved ? (await ErasedIdentifiers.read(writer, [writer.accountId])).get(writer.accountId) : undefined
  const rules = { accountId: account.id, retained, erased }
  const isChanging = table === 'conversions' || table === 'costs'
  const isRecognized = isChanging && !isMoved && (writer || mapping?.replaceDays)
  const importFile = isRecognized ? await source.fingerprint() : undefined
  const rowSource: RowSource = { nowMs, undatedAtMs: nowMs, importFile, updatedAtMs: mapping?.updatedAtMs }
  const derivedIds = new Map<string, number>()
  /** Columns of `--map` that no JSON row has had; the header of a CSV file has been checked. */
  const unseen = new Set(source.from === 'json' ? mappedColumns(input) : [])
  return {
    /** The first line of each derived id of a cost. */
    derivedIds,

    /** @returns the row as it is stored, or why it is rejected */
    decode({ line, fields }: RawRow): RowToStore | RowError {
      if (fields instanceof RowError) return fields
      for (const column of unseen) if (Object.hasOwn(fields, column)) unseen.delete(column)
      alterations = []
      try {
        const decoded = decodeRow(resource, read, [fields, input, line], rules, rowSource)
        if (decoded.table === 'costs') assertFirst(derivedIds, decoded.row as ReadCost, line)
        countAltered(altered, line, alterations)
        return decoded
      } catch (error) {
        if (error instanceof RowError) return error
        throw error
      }
    },

    /** @returns a warning, once all rows were decoded, if none has a column of the mapping */
    warning(): string | undefined {
      const missing = `${unseen.size === 1 ? 'column' : 'columns'} ${[...unseen].join(', ')}`
      return unseen.size > 0 ? `warning: no row has the ${missing} of --map.` : undefined
    },
  }
}
