import type { NamedTable } from '../../schema/metadata.ts'
import { columnName } from '../stores/clickhouse/columnKinds.ts'
import { ch, type Fragment, identifier } from '../stores/clickhouse/sql.ts'
import { concat, writeTexts } from '../stores/clickhouse/textList.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import { firstBytes, readInParts } from '../stores/postgres/readInParts.ts'
import { exportField, type RowField } from './exportFields.ts'
import type { NameCache } from './nameCache.ts'
import { isSelected, type SelectedFields } from './selectedFields.ts'

/** The entity ids of clicks and conversions, and the table that has their names. */
const entityTables = {
  campaignId: 'campaigns',
  offerId: 'offers',
  landingPageId: 'landing_pages',
  trafficSourceId: 'traffic_sources',
} as const satisfies Record<string, NamedTable>

/** The fields of the ids, in the order of the API. */
export const entityIdNames = Object.keys(entityTables) as (keyof typeof entityTables)[]

/** @returns `campaignName` of `campaignId` */
export const entityNameOf = (field: string) => field.replace(/Id$/, 'Name')

/** The JSON of the current names of entities by id, at the position that the id has in the text of a row; unknown ids are absent. */
export type NamesJson = readonly (ReadonlyMap<string, string> | undefined)[]

/** Reads the entity names of some rows. @param order the fields of their texts @param rows their texts */
export async function readEntityNames(
  cache: NameCache,
  accountId: string,
  order: readonly string[],
  rows: readonly { values: readonly string[] }[],
): Promise<NamesJson> {
  const json: Map<string, string>[] = []
  await Promise.all(
    entityIdNames.map(async (field) => {
      const index = order.indexOf(field)
      const ids = new Set(rows.map(({ values }) => values[index] ?? ''))
      const names = await cache.find(accountId, entityTables[field], ids)
      json[index] = new Map([...names].map(([id, name]) => [id, JSON.stringify(name)]))
    }),
  )
  return json
}

type NamedRow = { id: string; name: string }

const namesPerStatement = 1_000

/**
 * All entity names of an account as export fields, in the order of the API, for rows that ClickHouse formats. Names that are not
 * selected are neither read nor returned.
 */
export async function entityFields(
  postgres: Postgres,
  accountId: string,
  ids: readonly (keyof typeof entityTables)[],
  selected: SelectedFields,
): Promise<RowField[]> {
  const fields = await Promise.all(
    ids.map(async (field) => {
      if (!isSelected(entityNameOf(field), selected)) return [exportField(field, 'text')]
      const [ids, names]: [Fragment[], Fragment[]] = [[], []]
      const select = (last: NamedRow | undefined, limit: number) =>
        firstBytes<NamedRow>(
          postgres,
          postgres`
            SELECT id, name
            FROM ${postgres(entityTables[field])}
            WHERE account_id = ${accountId} AND id > ${last?.id ?? ''}
            ORDER BY id
            LIMIT ${limit}`,
          postgres`id`,
        )
      for await (const rows of readInParts(select, namesPerStatement)) {
        ids.push(...writeTexts(rows.map(({ id }) => id)))
        names.push(...writeTexts(rows.map(({ name }) => name)))
      }
      const name = ch`transform(${identifier(columnName(field))}, ${concat(ids)}, ${concat(names)}, NULL)`
      return [exportField(field, 'text'), { name: entityNameOf(field), value: name, isText: true as const }]
    }),
  )
  return fields.flat()
}
