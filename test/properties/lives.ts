import fc from 'fast-check'
import { findAccount } from '../../src/accounts/accounts.ts'
import { setRetention } from '../../src/accounts/retention.ts'
import { removeOldMonths } from '../../src/cli/retentionJob.ts'
import type { ImportName } from '../../src/import/resourceNames.ts'
import { importRows } from '../../src/import/run.ts'
import { emptyTally, type Tally } from '../../src/import/tally.ts'
import { completeErasures } from '../../src/writer/erasure/completeErasures.ts'
import { addErasures, identifierHash, readErasureKey } from '../../src/writer/erasure/erasures.ts'
import type { Writer } from '../../src/writer/fence/session.ts'
import { running, withWriter } from '../writer/withWriter.ts'

// Random lives of an account: imports, also killed ones, removals of months and erasures.

export interface Row {
  id: string
  [field: string]: unknown
}
/** A file of rows. Its import ends after `lines` rows when it is killed. */
interface File {
  kind: 'file'
  resource: ImportName
  name: string
  rows: Row[]
  lines: number
}
interface Removal {
  kind: 'remove'
  beforeMonth: number
  /** Statements before the removal is killed, where it is. */
  killedAfter: number
}
export type Step = File | Removal | { kind: 'erase'; visitor: number }

export const time = (month: number, n: number) =>
  new Date(Date.UTC(2025, month, 1 + (n % 28), n % 24, 20)).toISOString()
const upTo = (max: number) => fc.integer({ min: 0, max })
const files = (resource: ImportName, row: fc.Arbitrary<Row>): fc.Arbitrary<File> =>
  fc
    .record({ rows: fc.array(row, { minLength: 8, maxLength: 20 }), killedAfter: upTo(19), number: fc.nat() })
    .map(({ rows, killedAfter, number }) => ({
      kind: 'file',
      resource,
      rows,
      name: `file-${number}`,
      lines: Math.min(killedAfter + 1, rows.length),
    }))
export const clicks = files(
  'clicks',
  fc.record({ n: upTo(29), month: upTo(5), cost: upTo(900), country: fc.constantFrom('FR', 'DE') }).map((of) => ({
    id: `c${of.n}`,
    clickedAt: time(of.month, of.n),
    visitorId: `v${of.n % 5}`,
    campaignId: `k${of.n % 3}`,
    offerId: `o${of.n % 2}`,
    region: `r${of.n % 4}`,
    city: `city ${of.n}`,
    referrer: 'https://a.example/',
    country: of.country,
    cost: of.cost / 100,
    externalClickId: `x${of.n}`,
    subIds: { sub1: `s${of.n % 3}` },
    isBot: of.cost % 7 === 0,
  })),
)
/** Values of a conversion itself; a later row without them takes the ones of its click, also after that was removed. */
export const own = {
  offerId: 'own',
  country: 'IT',
  device: 'tablet',
  os: 'own',
  browser: 'own',
  visitorId: 'own',
  landingPageId: 'own',
  trafficSourceId: 'own',
  subIds: { sub1: 'own', sub10: 'own' },
}
export const conversions = files(
  'conversions',
  fc
    .record({
      n: upTo(9),
      revenue: upTo(9_000),
      updated: fc.integer({ min: 1, max: 9 }),
      hasOwn: fc.boolean(),
      status: fc.constantFrom('approved', 'pending', 'refunded', 'declined'),
    })
    .map(({ n, revenue, updated, hasOwn, status }) => ({
      id: `s${n}`,
      clickId: `c${n}`,
      transactionId: `t${n % 5}`,
      convertedAt: time(n % 6, n),
      status,
      revenueBase: revenue / 100,
      ...(hasOwn && own),
      updatedAt: `2025-07-0${updated}T00:00:00.000Z`,
    })),
)
/** Changes of conversions, also of unknown ones, by their transactions too. */
export const statuses = files(
  'conversion-statuses',
  fc
    .record({ n: upTo(9), updated: fc.integer({ min: 1, max: 9 }), cents: upTo(900), isById: fc.boolean() })
    .map(({ n, updated, cents, isById }) => ({
      ...(isById ? { id: `s${n}` } : { transactionId: `t${n % 5}` }),
      status: cents % 2 ? 'approved' : 'declined',
      updatedAt: `2025-07-0${updated}T12:00:00.000Z`,
      ...(cents > 300 && { revenueBase: cents / 100 }),
    })) as fc.Arbitrary<Row>,
)
/** Costs with ids and without; a file has each row once, and a later one corrects its amount. */
export const costs: fc.Arbitrary<File> = files(
  'costs',
  fc
    .record({ n: upTo(19), cents: upTo(900), updated: fc.integer({ min: 1, max: 9 }) })
    .map(({ n, cents, updated }) => ({
      ...(n < 8 && { id: `x${n}` }),
      spentAt: time(n % 6, n),
      campaignId: `k${n % 3}`,
      country: n % 2 ? 'DE' : undefined,
      cost: cents / 100,
      subIds: { sub1: `s${n}` },
      updatedAt: `2025-07-0${updated}T00:00:00.000Z`,
    })) as fc.Arbitrary<Row>,
).map(({ rows, lines, ...file }) => {
  const distinct = [...new Map(rows.map((row) => [row.spentAt, row])).values()]
  return { ...file, rows: distinct, lines: Math.min(lines, distinct.length) }
})
export const events = files(
  'pixel-events',
  fc.record({ n: upTo(29), month: upTo(5), generation: upTo(1), isServer: fc.boolean() }).map((of) => ({
    id: `e${of.n}`,
    generation: of.generation,
    origin: of.isServer ? 'server' : 'browser',
    eventName: 'signup',
    clickId: `c${of.n}`,
    visitorId: `v${of.n % 5}`,
    campaignId: `k${of.n % 3}`,
    value: of.n / 7,
    occurredAt: time(of.month, of.n),
    receivedAt: time(of.month, of.n + 1),
    properties: { n: of.n },
  })),
)
export const campaigns = files(
  'campaigns',
  fc
    .record({ n: upTo(2), owner: upTo(9) })
    .map(({ n, owner }) => ({ id: `k${n}`, name: `K${n}`, userId: `u${owner}` })),
)
export const removals: fc.Arbitrary<Removal> = fc.record({
  kind: fc.constant('remove' as const),
  beforeMonth: fc.integer({ min: 1, max: 5 }),
  killedAfter: upTo(45),
})
export const erasures = fc.record({ kind: fc.constant('erase' as const), visitor: upTo(4) })

const range = 'from=2025-01-01&to=2025-06-30'
/** Reads whose numbers are sums, and conversions. */
export const fromSums = [
  ...['campaign', 'country', 'offer', 'device', 'day', 'week'].map((by) => `/reports?group_by=${by}&${range}`),
  `/reports?group_by=country&campaign_id=k1&${range}`,
  `/stats/overview?${range}`,
  `/stats/daily?${range}&tz=Asia/Kathmandu`,
  '/conversions?limit=200',
]

/** Rows of every kind, changed conversions, a removed month and an erased visitor. */
export const life = fc
  .tuple(
    fc.tuple(campaigns, clicks, conversions, clicks, events),
    fc.tuple(removals, erasures, conversions, clicks, conversions),
  )
  .map(([first, second]): Step[] => [...first, ...second])

export async function apply(
  { stores }: { stores: Writer['stores'] },
  account: string,
  step: Step,
): Promise<Tally | undefined> {
  if (step.kind === 'file') return await importFile(stores, account, step)
  await withWriter(stores, account, async (writer) => {
    if (step.kind === 'remove') {
      await setRetention(stores.postgres, account, { clickMonths: 1, eventMonths: 1 })
      await removeOldMonths(writer, Date.UTC(2025, step.beforeMonth + 1, 10), 0)
      return
    }
    const key = await readErasureKey(writer)
    const hash = identifierHash(key, 'visitor', `v${step.visitor}`)
    await addErasures(writer, [{ kind: 'visitor', key, hash, erasedMs: Date.UTC(2026, 0, 1) }])
    await completeErasures(writer, { inFlightMs: 0, ifStillRead: 'leave' })
  })
  return undefined
}

async function importFile(
  stores: Writer['stores'],
  accountId: string,
  { resource, name, rows, lines }: File,
): Promise<Tally> {
  const account = await findAccount(stores.postgres, accountId)
  if (!account) throw new Error(`No account ${accountId}`)
  const read = rows.slice(0, lines).map((row, index) => ({ line: index + 1, text: '', fields: { ...row } }))
  async function* blocks() {
    yield read
  }
  const source = { rows: blocks(), from: 'json' as const, fractionRead: () => undefined, fingerprint: async () => name }
  const tally = emptyTally()
  const nowMs = Date.UTC(2026, 0, 1)
  await importRows(stores, { resource, account, source, rejects: undefined, nowMs }, tally, {
    ...running,
    onProgress: () => {},
  })
  return tally
}
