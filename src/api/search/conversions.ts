import type { ConversionSearchField, ConversionSearchPage } from '../../../schema/search.ts'
import { latestVersions } from '../../query/latestVersions.ts'
import { type PageRows, readNext, toPage } from '../../query/list.ts'
import type { PageKey } from '../../query/pagination.ts'
import type { ReadContext } from '../../query/readContext.ts'
import { fold } from '../../query/searchText.ts'
import { conversionValue } from '../../rows/conversions.ts'
import type { RowContext } from '../../rows/nameCache.ts'
import type { RowText } from '../../rows/rowSerializer.ts'
import { keyOf, readLatest, versionSerializer } from '../../rows/versions.ts'
import { longRead } from '../../stores/clickhouse/select.ts'
import { type Postgres, queryPostgres } from '../../stores/postgres/connection.ts'
import type { ConversionSearchPlan } from './plan.ts'
import { findIdsByName } from './slices.ts'
import { conversionSearchQuery, isName, type NameField, namedFields, type SearchedField } from './sql.ts'

const table = 'conversions'

/**
 * Reads one page of the conversions that contain a text, as JSON, newest first, each with the fields that contain it. Names are in
 * Postgres: ClickHouse gets the ids of all campaigns and offers whose names contain the text.
 */
export async function searchConversions(
  context: RowContext,
  plan: ConversionSearchPlan,
): Promise<PageRows & Omit<ConversionSearchPage, 'data'>> {
  const withIds = plan.fields.map(async (field) => ({ field, ids: await findIds(context, plan, field) }))
  // Without a matching name no row matches by the field.
  const searched = (await Promise.all(withIds)).filter(({ ids }) => ids?.length !== 0)
  const found = searched.length > 0 ? await findConversions(context, plan, searched) : { rows: [] }
  const rows = found.rows.map(({ row }) => row)
  const toJson = await versionSerializer(context, { ...plan, table }, rows, ['matched', 'matches'])
  const page = await toPage(
    found,
    plan,
    ({ row }) => keyOf(table, row),
    ({ row, matches }) => toJson(row, { matched: true, matches }),
  )
  return { ...page, query: plan.query, searchedFields: [...plan.fields] }
}

/** @returns the ids of the campaigns or offers whose names contain the text; undefined for a field that is no name */
async function findIds(context: ReadContext, plan: ConversionSearchPlan, field: ConversionSearchField) {
  return isName(field) ? await findIdsByName(context, { ...plan, table: namedFields[field].table }) : undefined
}

function findConversions(context: ReadContext, plan: ConversionSearchPlan, searched: readonly SearchedField[]) {
  const query = conversionSearchQuery(plan, searched)
  const readMatching = async (keys: PageKey[]) => {
    const options = { state: query.versionConditions, label: 'conversions.search.rows' }
    const rows = await readLatest(context, { ...plan, table }, keys, options)
    if (!rows) return undefined
    const columns = await Promise.all(
      searched.map(async ({ field }) => ({
        field,
        values: isName(field)
          ? await readNames(context.stores.postgres, plan.accountId, field, rows)
          : rows.map((row) => conversionValue(row, field)),
      })),
    )
    return rows.flatMap((row, index) => {
      const matches = columns
        .map(({ field, values }) => ({ field, value: values[index] ?? '' }))
        .filter(({ value }) => fold(value).includes(plan.folded))
      return matches.length === 0 ? [] : [{ row, matches }]
    })
  }
  const source = latestVersions(context, query, { label: 'conversions.search', settings: longRead }, readMatching)
  return readNext([source], plan.after, plan.limit + 1)
}

/** Reads the present names for some rows, in their order. The name cache may have older ones, which do not contain the text. */
async function readNames(postgres: Postgres, accountId: string, field: NameField, rows: readonly RowText[]) {
  const { id, table } = namedFields[field]
  const ids = rows.map((row) => conversionValue(row, id))
  const named = await queryPostgres(postgres<{ id: string; name: string }[]>`
    SELECT id, name FROM ${postgres(table)} WHERE account_id = ${accountId} AND id = ANY(${[...new Set(ids)]})`)
  const names = new Map(named.map(({ id, name }) => [id, name]))
  return ids.map((one) => names.get(one))
}
