import { subIdNames } from '../../schema/subIds.ts'
import { clickTextFields, readClickText } from '../query/clickText.ts'
import type { PageKey } from '../query/pagination.ts'
import { toInstantText } from '../query/timeRange.ts'
import { selectFields } from '../stores/clickhouse/columnKinds.ts'
import { ch } from '../stores/clickhouse/sql.ts'
import { clickFields, type Selected } from '../stores/clickhouse/tableColumns.ts'
import { type EntityIds, type EntityNames, entityIdNames } from './entityNames.ts'
import { responseFields } from './responseFields.ts'

const selected = { ...clickFields, storedAt: 'instant' } as const

/** The select list of all columns of clicks, and its rows: absent text is empty, instants are epoch milliseconds. */
export const clickColumns = selectFields(selected)
export type StoredClick = Selected<typeof selected>

/** The select list of the keys and texts of clicks, and its rows. */
export const clickTexts = ch`toUnixTimestamp64Milli(clicked_at) AS atMs, id, toUnixTimestamp64Milli(stored_at) AS storedAt, row_text AS rowText`
export type ClickText = PageKey & { storedAt: number; rowText: string }

/** What a response shows beside the stored values. */
interface Shown {
  entities: EntityNames
  baseCurrency: string
  conversionCount: number
}

/** A click, before names and conversions are added. */
export interface FoundClick extends PageKey {
  entityIds: EntityIds
  /** @returns the row of a response as JSON */
  toJson(shown: Shown): string
}

const toFields = responseFields(clickFields)

/** @returns the click of a row of `clickColumns` */
export function clickOfColumns(row: StoredClick): FoundClick {
  return {
    atMs: row.clickedAt,
    id: row.id,
    entityIds: row,
    toJson: ({ conversionCount, ...shown }) =>
      `${JSON.stringify(toFields(row, shown)).slice(0, -1)},${lastFields(conversionCount, row.storedAt)}}`,
  }
}

function lastFields(conversionCount: number, storedAt: number): string {
  return `"converted":${conversionCount > 0},"conversionCount":${conversionCount},"storedAt":"${toInstantText(storedAt)}"`
}

/** @returns the click of a row of `clickTexts`, undefined when its columns have to be read */
export function clickOfText({ atMs, id, storedAt, rowText }: ClickText): FoundClick | undefined {
  const values = readClickText(rowText)
  if (!values) return undefined
  // Most texts contain nothing that JSON escapes, so each text is searched once instead of each value.
  const isPlain = !escaped.test(rowText)
  return {
    atMs,
    id,
    entityIds: Object.fromEntries(entityIdNames.map((name, index) => [name, values[index]])) as unknown as EntityIds,
    toJson({ entities, baseCurrency, conversionCount }) {
      let json = `{"id":"${id}","clickedAt":"${toInstantText(atMs)}",${JSON.stringify(entities).slice(1, -1)}`
      for (const { index, prefix, kind, suffix } of shownFields) {
        const value = values[index] as string
        json += prefix
        if (kind === 'flag') json += value === '1'
        else if (value === '') json += 'null'
        else if (kind === 'moneyOrNull') json += Number(value)
        else json += isPlain ? `"${value}"` : JSON.stringify(value)
        json += suffix
        if (index === costBaseIndex) json += `,"baseCurrency":"${baseCurrency}"`
      }
      return `${json},${lastFields(conversionCount, storedAt)}}`
    },
  }
}

/** Characters that JSON escapes. The separator of the text, NUL, is in no value. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes control characters.
const escaped = /["\\\u0001-\u001f]/

const costBaseIndex = clickTextFields.findIndex(([name]) => name === 'costBase')

/** The fields of a text that a response shows as they are, and what stands around each value. */
const shownFields = clickTextFields
  .map(([name, kind], index) => ({
    index,
    kind,
    prefix: name === subIdNames[0] ? `,"subIds":{"${name}":` : `,"${name}":`,
    suffix: name === subIdNames.at(-1) ? '}' : '',
  }))
  .slice(entityIdNames.length)
