import type { ConversionSearchField, ConversionSearchPage, Match } from '../../../schema/search.ts'
import { latestVersions } from '../../query/latestVersions.ts'
import { type NextRows, type PageRows, readNext, toPage } from '../../query/list.ts'
import type { PageKey } from '../../query/pagination.ts'
import type { ReadContext } from '../../query/readContext.ts'
import { fold } from '../../query/searchText.ts'
import { conversionValue } from '../../rows/conversions.ts'
import type { NamesById, RowContext } from '../../rows/nameCache.ts'
import type { RowText } from '../../rows/rowSerializer.ts'
import { keyOf, keyText, readLatest, versionSerializer } from '../../rows/versions.ts'
import { longRead } from '../../stores/clickhouse/select.ts'
import type { ConversionSearchPlan } from './plan.ts'
import { findNames } from './slices.ts'
import { conversionSearchQuery, type SearchPart } from './sql.ts'

const table = 'conversions'
const conversionKey = (row: RowText) => keyOf(table, row)

interface FoundConversion {
  row: RowText
  matches: Match[]
}

/**
 * Reads one page of the conversions that contain a text, as JSON, newest first, each with the fields that contain it.
 *
 * Names are in Postgres, and any number of them may match. They are read in parts, usually one; each part finds its newest
 * conversions, and the page has the newest of all parts.
 */
export async function searchConversions(
  context: RowContext,
  plan: ConversionSearchPlan,
): Promise<PageRows & Omit<ConversionSearchPage, 'data'>> {
  const namesOf = (field: ConversionSearchField, table: 'campaigns' | 'offers') =>
    plan.fields.includes(field) ? findNames(context, { ...plan, table }) : noParts
  const parts = [namesOf('campaignName', 'campaigns'), namesOf('offerName', 'offers')]
  let found: NextRows<FoundConversion> = { rows: [] }
  for (let part = 0; ; part++) {
    const next = await Promise.all(parts.map((names) => names.next()))
    const [campaigns = noNames, offers = noNames] = next.map(({ value }) => value)
    if (part > 0 && campaigns.size === 0 && offers.size === 0) break
    const more = await findInPart(context, newerThan(plan, found), { campaigns, offers, hasText: part === 0 })
    found = newestOf(plan, found, more)
  }
  const rows = found.rows.map(({ row }) => row)
  const toJson = await versionSerializer(context, { ...plan, table }, rows, ['matched', 'matches'])
  const page = await toPage(
    found,
    plan,
    ({ row }) => conversionKey(row),
    ({ row, matches }) => toJson(row, { matched: true, matches }),
  )
  return { ...page, query: plan.query, searchedFields: [...plan.fields] }
}

const noNames: NamesById = new Map()
const noParts: AsyncIterator<NamesById, undefined> = { next: async () => ({ done: true, value: undefined }) }

async function findInPart(
  context: ReadContext,
  plan: ConversionSearchPlan,
  part: SearchPart,
): Promise<NextRows<FoundConversion>> {
  const query = conversionSearchQuery(plan, part)
  if (!query) return { rows: [] }
  const readMatching = async (keys: PageKey[]) => {
    const options = { state: query.versionConditions, label: 'conversions.search.rows' }
    const rows = await readLatest(context, { ...plan, table }, keys, options)
    return rows?.flatMap((row) => {
      const matches = matchesIn(row, plan, part)
      return matches.length === 0 ? [] : [{ row, matches }]
    })
  }
  const source = latestVersions(context, query, { label: 'conversions.search', settings: longRead }, readMatching)
  return await readNext([source], plan.after, plan.limit + 1)
}

function matchesIn(row: RowText, { fields, folded }: ConversionSearchPlan, { campaigns, offers }: SearchPart): Match[] {
  return fields.flatMap((field) => {
    if (field === 'campaignName') return namedMatch(field, campaigns.get(conversionValue(row, 'campaignId')))
    if (field === 'offerName') return namedMatch(field, offers.get(conversionValue(row, 'offerId')))
    const value = conversionValue(row, field)
    return fold(value).includes(folded) ? [{ field, value }] : []
  })
}

/** A name that was found contains the text. */
function namedMatch(field: ConversionSearchField, name: string | undefined): Match[] {
  return name === undefined ? [] : [{ field, value: name }]
}

/** Excludes conversions that are older than the last one of a full page. */
function newerThan(plan: ConversionSearchPlan, { rows, isFull }: NextRows<FoundConversion>): ConversionSearchPlan {
  const last = isFull ? rows.at(-1) : rows[plan.limit]
  return last ? { ...plan, range: { ...plan.range, fromMs: conversionKey(last.row).atMs } } : plan
}

/**
 * Merges the conversions of two parts to the newest `limit + 1`, which end where the first full part ends; a conversion in both has the
 * matches of both.
 */
function newestOf(
  { fields, limit }: ConversionSearchPlan,
  found: NextRows<FoundConversion>,
  more: NextRows<FoundConversion>,
): NextRows<FoundConversion> {
  const textOf = ({ row }: FoundConversion) => keyText(conversionKey(row))
  const byKey = new Map(found.rows.map((conversion) => [textOf(conversion), conversion]))
  for (const conversion of more.rows) {
    const matches = [...(byKey.get(textOf(conversion))?.matches ?? []), ...conversion.matches]
    const ordered = fields.flatMap((field) => matches.find((match) => match.field === field) ?? [])
    byKey.set(textOf(conversion), { row: conversion.row, matches: ordered })
  }
  const ends = [found, more].flatMap(({ rows, isFull }) => (isFull ? (rows.at(-1) ?? []) : []))
  const isKnown = (conversion: FoundConversion) =>
    ends.every((end) => newestFirst(conversion, end) <= 0 || textOf(conversion) === textOf(end))
  const rows = [...byKey.values()]
    .sort(newestFirst)
    .filter(isKnown)
    .slice(0, limit + 1)
  return { rows, isFull: ends.length > 0 }
}

/** Ids are ASCII, so they sort as in ClickHouse. */
function newestFirst(a: FoundConversion, b: FoundConversion): number {
  const [keyA, keyB] = [conversionKey(a.row), conversionKey(b.row)]
  if (keyA.atMs !== keyB.atMs) return keyB.atMs - keyA.atMs
  return keyA.id < keyB.id ? 1 : -1
}
