import { type Draws, openDraws } from '../../../src/cli/demoData/draws.ts'

/** What a sender may be told about a row, in the end. */
export type Final = 'inserted' | 'updated' | 'duplicate' | 'older' | 'conflict' | 'rejected'

export interface SentRow {
  /** The line that is sent. */
  text: string
  /** Equal for rows that are stored as one. */
  key: string
  accountId: string
  /** The results that are right, whatever else was stored before. */
  finals: readonly Final[]
  /** Why the row is rejected, where it always is. */
  reason?: RegExp
}

/** Rows that a sender sends together, again and again until each of them has a final result. */
export interface Chunk {
  rows: SentRow[]
  /** Chunks with earlier rows of the same ids, which must have their results before. */
  after: Set<Chunk>
}

/** Rows of several accounts, and what must be stored once each of them has a final result. */
export interface Sends {
  accounts: SendingAccount[]
  chunks: Chunk[]
}

export interface SendingAccount {
  id: string
  kind: 'plain' | 'erased' | 'deleted' | 'importing'
  clicks: Click[]
  conversions: Conversion[]
  events: ReturnType<typeof eventOf>[]
  /** The last name of each campaign by id. */
  campaigns: Map<string, string>
}

export type Click = ReturnType<typeof clickOf>

/** In its latest state. */
export interface Conversion {
  id: string
  clickId: string
  convertedAt: string
  campaignId?: string
  status: string
  updatedAt: string
  revenueBase: number
}

/** Erased before any row arrives, and while rows arrive. */
export const erasedVisitors = ['v0', 'v1'] as const

const statuses = ['pending', 'approved', 'declined', 'hold', 'refunded', 'chargeback']
const inserting: readonly Final[] = ['inserted', 'duplicate']

/**
 * @param name of the accounts, so that several of them fit into one store
 * @param scale of the number of rows: 1 is about 500
 */
export function makeSends(name: string, seed: number, scale = 1): Sends {
  const draws = openDraws(`feed ${seed}`)
  const many = (low: number, high: number) => draws.between(low, Math.max(low, Math.round(high * scale)))
  const kinds = ['plain', 'plain', 'plain', 'erased', 'deleted', 'importing'] as const
  const accounts = kinds.map((kind, index): SendingAccount => {
    const id = `${name}-${kind}-${index}`
    return { id, kind, clicks: [], conversions: [], events: [], campaigns: new Map() }
  })
  const count = Math.max(6, Math.round(24 * scale))
  const chunks = Array.from({ length: count }, (): Chunk => ({ rows: [], after: new Set() }))
  const place = placer(draws, chunks)
  for (const account of accounts) {
    sendCampaigns(draws, account, place)
    sendClicks(draws, account, place, many(2, 30))
    sendConversions(draws, account, place, many(2, 15))
    sendEvents(draws, account, place, many(1, 10))
  }
  for (const reject of rejects(draws, accounts[0]?.id ?? '', many(3, 12))) place.anywhere(reject)
  for (const chunk of chunks) chunk.rows = fitOrder(draws, chunk.rows)
  return { accounts, chunks: chunks.filter(({ rows }) => rows.length > 0) }
}

type Placer = ReturnType<typeof placer>

function placer(draws: Draws, chunks: Chunk[]) {
  const last = chunks.length - 1
  const put = (row: SentRow, number: number) => {
    chunks[number]?.rows.push(row)
    return number
  }
  const once = (row: SentRow) => put(row, draws.between(0, last))
  return {
    /** Places a row. @returns the number of its chunk */
    once,
    /** Places a row, sometimes twice. @returns the number of its first chunk */
    anywhere(row: SentRow): number {
      const number = once(row)
      if (draws.chance(0.15)) once(row)
      return number
    },
    /** Places a row that must arrive after the rows in earlier chunks. @returns the number of its chunk */
    later(row: SentRow, ...earlier: number[]): number {
      const number = put(row, draws.between(Math.max(...earlier), last))
      const chunk = chunks[number]
      for (const before of earlier.map((one) => chunks[one])) if (before !== chunk && before) chunk?.after.add(before)
      return number
    },
    /** Places a row in a chunk of its own, which must arrive after earlier ones. */
    afterwards(row: SentRow, earlier: readonly number[]): void {
      chunks.push({ rows: [row], after: new Set(earlier.flatMap((one) => chunks[one] ?? [])) })
    },
  }
}

/** Mixes the rows of a chunk, except that rows with one key keep their order. */
function fitOrder(draws: Draws, rows: readonly SentRow[]): SentRow[] {
  const byKey = new Map<string, SentRow[]>()
  for (const row of rows) byKey.set(row.key, [...(byKey.get(row.key) ?? []), row])
  const mixed = rows.map(({ key }) => ({ key, at: draws.unit() })).sort((one, other) => one.at - other.at)
  return mixed.flatMap(({ key }) => byKey.get(key)?.shift() ?? [])
}

function rowOf(account: SendingAccount, resource: string, fields: { id: string }, finals: readonly Final[]): SentRow {
  const key = `${account.id} ${resource} ${fields.id}`
  const text = JSON.stringify({ accountId: account.id, resource, ...fields })
  const always = { importing: ['rejected'], deleted: [...finals, 'rejected'] } as const
  const { kind } = account
  const allowed = kind === 'importing' || kind === 'deleted' ? always[kind] : finals
  return { text, key, accountId: account.id, finals: allowed }
}

/** A time in one of two months. */
function timeOf(draws: Draws): string {
  const at = Date.UTC(2026, draws.between(8, 9), draws.between(1, 28), draws.between(0, 23), draws.between(0, 59))
  return new Date(at).toISOString()
}

function sendCampaigns(draws: Draws, account: SendingAccount, { once, later }: Placer): void {
  for (let number = 0; number < 3; number += 1) {
    const id = `k${number}`
    let chunk: number | undefined
    for (let state = draws.between(0, 2); state >= 0; state -= 1) {
      const campaign = { id, name: `${id}, name ${state}` }
      const row = rowOf(account, 'campaigns', campaign, ['inserted', 'updated', 'duplicate'])
      // The name that arrives last is the name.
      chunk = chunk === undefined ? once(row) : later(row, chunk)
      account.campaigns.set(id, campaign.name)
    }
  }
}

const clickOf = (draws: Draws, number: number) => ({
  id: `c${number}`,
  clickedAt: timeOf(draws),
  campaignId: `k${draws.between(0, 3)}`,
  country: draws.pick(['DE', 'FR', 'BR']),
  visitorId: `v${draws.between(0, 5)}`,
  cost: draws.between(0, 900) / 100,
  isBot: draws.chance(0.05),
  subIds: { sub1: `s${draws.between(0, 3)}` },
})

function sendClicks(draws: Draws, account: SendingAccount, { anywhere, later }: Placer, count: number): void {
  for (let number = 0; number < count; number += 1) {
    const click = clickOf(draws, number)
    account.clicks.push(click)
    const chunk = anywhere(rowOf(account, 'clicks', click, inserting))
    if (!draws.chance(0.1)) continue
    later(rowOf(account, 'clicks', { ...click, country: 'US' } as Click, ['conflict']), chunk)
  }
}

function sendConversions(draws: Draws, account: SendingAccount, placed: Placer, count: number): void {
  const { anywhere, later, afterwards } = placed
  /** Conversions of each transaction, and the chunks that their rows are in. */
  const transactions = new Map<string, { conversions: Conversion[]; chunks: number[] }>()
  for (let number = 0; number < count; number += 1) {
    const convertedAt = timeOf(draws)
    const base = {
      // Some clicks never arrive.
      id: `s${number}`,
      clickId: `c${draws.between(0, account.clicks.length)}`,
      convertedAt,
      transactionId: `t${draws.between(0, count)}`,
      ...(draws.chance(0.3) && { campaignId: 'own' }),
    }
    const states = draws.between(1, 3)
    const ofTransaction = transactions.get(base.transactionId) ?? { conversions: [], chunks: [] }
    transactions.set(base.transactionId, ofTransaction)
    const earlier: number[] = []
    for (let state = 0; state < states; state += 1) {
      const updatedAt = new Date(Date.parse(convertedAt) + state * 3_600_000).toISOString()
      const conversion: Conversion = {
        ...base,
        status: draws.pick(statuses),
        updatedAt,
        revenueBase: draws.between(0, 9_000) / 100,
      }
      const changing: readonly Final[] = ['inserted', 'updated', 'duplicate', 'older']
      const chunk = anywhere(rowOf(account, 'conversions', conversion, changing))
      earlier.push(chunk)
      if (state === states - 1) {
        const latest = sendStatuses(draws, account, placed, { ...conversion }, earlier)
        account.conversions.push(latest)
        ofTransaction.conversions.push(latest)
        ofTransaction.chunks.push(...earlier)
      }
      if (!draws.chance(0.15)) continue
      const other = { ...conversion, revenueBase: conversion.revenueBase + 1 }
      later(rowOf(account, 'conversions', other, ['conflict', 'older']), chunk)
    }
  }
  for (const [transactionId, { conversions, chunks }] of transactions) {
    if (!draws.chance(0.3)) continue
    const change = { status: draws.pick(statuses), updatedAt: '2026-11-20T00:00:00.000Z' }
    const row = { transactionId, ...change } as object as { id: string }
    afterwards(rowOf(account, 'conversion-statuses', row, ['updated', 'duplicate']), chunks)
    for (const conversion of conversions) Object.assign(conversion, change)
  }
}

/** Sends changes of a conversion, in any order, after all of its rows. @param earlier the chunks of the rows; receives those of the changes */
function sendStatuses(
  draws: Draws,
  account: SendingAccount,
  { later }: Placer,
  { id, ...conversion }: Conversion,
  earlier: number[],
): Conversion {
  const [rows, afterMs] = [[...earlier], Date.parse(conversion.convertedAt) + 5 * 3_600_000]
  const changes = Array.from({ length: draws.between(0, 2) }, (_, number) => ({
    status: draws.pick(statuses),
    updatedAt: new Date(afterMs + number * 3_600_000).toISOString(),
    revenueBase: draws.between(0, 9_000) / 100,
  }))
  for (const change of changes) {
    const row = rowOf(account, 'conversion-statuses', { id, ...change } as { id: string }, [
      'updated',
      'duplicate',
      'older',
    ])
    // In one chunk it stays behind the rows of its conversion.
    const sent = { ...row, key: `${account.id} conversions ${id}` }
    earlier.push(later(sent, ...rows))
  }
  return { id, ...conversion, ...changes.at(-1) }
}

function eventOf(draws: Draws, number: number, clicks: number) {
  const occurredAt = timeOf(draws)
  return {
    id: `e${number}`,
    eventName: draws.pick(['signup', 'view']),
    visitorId: `v${draws.between(0, 5)}`,
    ...(draws.chance(0.5) && { clickId: `c${draws.between(0, clicks)}` }),
    value: draws.between(0, 99),
    occurredAt,
    receivedAt: occurredAt,
  }
}

function sendEvents(draws: Draws, account: SendingAccount, { anywhere }: Placer, count: number): void {
  for (let number = 0; number < count; number += 1) {
    const event = eventOf(draws, number, account.clicks.length)
    account.events.push(event)
    anywhere(rowOf(account, 'pixel-events', event, inserting))
  }
}

function rejects(draws: Draws, accountId: string, count: number): SentRow[] {
  const click = { accountId, resource: 'clicks', clickedAt: '2026-10-01T00:00:00Z' }
  const conversion = { accountId, resource: 'conversions', convertedAt: '2026-10-01T00:00:00Z' }
  const status = {
    ...conversion,
    resource: 'conversion-statuses',
    convertedAt: undefined,
    status: 'hold',
    updatedAt: '2026-10-02T00:00:00Z',
  }
  const forms: ((id: string) => [object | string, RegExp])[] = [
    (id) => [{ ...click, id, device: 'fridge' }, /^device: must be one of /],
    (id) => [{ ...click, id, clickedAt: undefined }, /^clickedAt: is required/],
    (id) => [{ ...click, id, colour: 'red' }, /^colour: /],
    (id) => [{ ...conversion, id, status: 'lost' }, /^status: must be one of /],
    (id) => [{ ...status, id }, /^id: names no stored conversion; send it again after the conversion$/],
    (id) => [{ ...click, id, resource: 'visits' }, /^resource: /],
    (id) => [{ ...click, id, accountId: 'unknown' }, /^accountId: /],
    (id) => [`{"accountId":"${accountId}","id":"${id}"`, /JSON/],
  ]
  return Array.from({ length: count }, (_, number) => {
    const id = `bad-${accountId}-${number}`
    const [row, reason] = draws.pick(forms)(id)
    const text = typeof row === 'string' ? row : JSON.stringify(row)
    return { text, key: id, accountId: '', finals: ['rejected'], reason }
  })
}
