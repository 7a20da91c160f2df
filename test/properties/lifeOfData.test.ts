// @module-tag long

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findAccount } from '../../src/accounts/accounts.ts'
import { setRetention } from '../../src/accounts/retention.ts'
import { removeOldMonths } from '../../src/cli/retentionJob.ts'
import type { App } from '../../src/http/context.ts'
import type { ResourceName } from '../../src/import/resourceNames.ts'
import { importRows, type Tally } from '../../src/import/run.ts'
import { completeErasures } from '../../src/writer/erasure/completeErasures.ts'
import { addErasures, identifierHash, readErasureKey } from '../../src/writer/erasure/erasures.ts'
import { Writer } from '../../src/writer/fence/writer.ts'
import { findDifferences } from '../../src/writer/repair/differences.ts'
import { runHere } from '../cli/runCommand.ts'
import { importContent } from '../import/runImport.ts'
import { type TestApp, useTestApp } from '../kit/app.ts'
import { useFolder } from '../kit/fixtures.ts'
import { interceptClickHouse } from '../kit/interceptedClickHouse.ts'
import { randomCases } from '../kit/randomCases.ts'
import { contentOf, storedRowsOf } from '../writer/retention/retainedAccount.ts'
import { running, withWriter } from '../writer/withWriter.ts'

interface Row {
  id: string
  [field: string]: unknown
}
/** A file of rows. Its import ends after `lines` rows when it is killed. */
interface File {
  kind: 'file'
  resource: ResourceName
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
type Step = File | Removal | { kind: 'erase'; visitor: number }

const time = (month: number, n: number) => new Date(Date.UTC(2025, month, 1 + (n % 28), n % 24, 20)).toISOString()
const upTo = (max: number) => fc.integer({ min: 0, max })
const files = (resource: ResourceName, row: fc.Arbitrary<Row>): fc.Arbitrary<File> =>
  fc
    .record({ rows: fc.array(row, { minLength: 8, maxLength: 20 }), killedAfter: upTo(19), number: fc.nat() })
    .map(({ rows, killedAfter, number }) => ({
      ...{ kind: 'file', resource, rows, name: `file-${number}`, lines: Math.min(killedAfter + 1, rows.length) },
    }))
const clicks = files(
  'clicks',
  fc.record({ n: upTo(29), month: upTo(5), cost: upTo(900), country: fc.constantFrom('FR', 'DE') }).map((of) => ({
    ...{ id: `c${of.n}`, clickedAt: time(of.month, of.n), visitorId: `v${of.n % 5}`, campaignId: `k${of.n % 3}` },
    ...{ offerId: `o${of.n % 2}`, region: `r${of.n % 4}`, city: `city ${of.n}`, referrer: 'https://a.example/' },
    ...{ country: of.country, cost: of.cost / 100, externalClickId: `x${of.n}`, subIds: { sub1: `s${of.n % 3}` } },
    isBot: of.cost % 7 === 0,
  })),
)
/** Values of a conversion itself; a later row without them takes the ones of its click, also after that was removed. */
const own = {
  ...{ offerId: 'own', country: 'IT', device: 'tablet', os: 'own', browser: 'own', visitorId: 'own' },
  ...{ landingPageId: 'own', trafficSourceId: 'own', subIds: { sub1: 'own', sub10: 'own' } },
}
const conversions = files(
  'conversions',
  fc
    .record({
      ...{ n: upTo(9), revenue: upTo(9_000), updated: fc.integer({ min: 1, max: 9 }), hasOwn: fc.boolean() },
      status: fc.constantFrom('approved', 'pending', 'refunded', 'declined'),
    })
    .map(({ n, revenue, updated, hasOwn, status }) => ({
      ...{ id: `s${n}`, clickId: `c${n}`, convertedAt: time(n % 6, n), status, revenueBase: revenue / 100 },
      ...(hasOwn && own),
      updatedAt: `2025-07-0${updated}T00:00:00.000Z`,
    })),
)
const events = files(
  'pixel-events',
  fc.record({ n: upTo(29), month: upTo(5), generation: upTo(1), isServer: fc.boolean() }).map((of) => ({
    ...{ id: `e${of.n}`, generation: of.generation, origin: of.isServer ? 'server' : 'browser', eventName: 'signup' },
    ...{ clickId: `c${of.n}`, visitorId: `v${of.n % 5}`, campaignId: `k${of.n % 3}`, value: of.n / 7 },
    ...{ occurredAt: time(of.month, of.n), receivedAt: time(of.month, of.n + 1), properties: { n: of.n } },
  })),
)
const campaigns = files(
  'campaigns',
  fc
    .record({ n: upTo(2), owner: upTo(9) })
    .map(({ n, owner }) => ({ id: `k${n}`, name: `K${n}`, userId: `u${owner}` })),
)
const removals: fc.Arbitrary<Removal> = fc.record({
  kind: fc.constant('remove' as const),
  beforeMonth: fc.integer({ min: 1, max: 5 }),
  killedAfter: upTo(45),
})
const erasures = fc.record({ kind: fc.constant('erase' as const), visitor: upTo(4) })

const source = useTestApp()
const target = useTestApp()
const folder = useFolder()

const range = 'from=2025-01-01&to=2025-06-30'
const fromSums = [
  ...['campaign', 'country', 'offer', 'device', 'day', 'week'].map((by) => `/reports?group_by=${by}&${range}`),
  ...[`/reports?group_by=country&campaign_id=k1&${range}`, `/stats/overview?${range}`],
  ...[`/stats/daily?${range}&tz=Asia/Kathmandu`, '/conversions?limit=200'],
]

/** Both accounts get the same rows and erasures; months are removed from one of them. */
const aging = fc
  .tuple(
    ...[clicks, conversions, removals, conversions],
    fc.array(fc.oneof(clicks, conversions, removals, erasures), { minLength: 3, maxLength: 6 }),
  )
  .map(([first, second, third, fourth, more]): Step[] => [first, second, third, fourth, ...more])

it('sums, lists and conversions equal those of an account that keeps all rows, through removals, erasures and kills', async () => {
  await source.account('untouched')
  const untouched = Array.from({ length: 12 }, (_, n) => ({ id: `c${n}`, clickedAt: time(n % 6, n), campaignId: 'k1' }))
  await importContent(source.stores, 'untouched', 'clicks', untouched)
  const others = await storedRowsOf(source.stores, 'untouched')
  let lives = 0
  await fc.assert(
    fc.asyncProperty(aging, async (steps) => {
      lives += 1
      const [kept, aged] = [`kept-${lives}`, `aged-${lives}`]
      const keys = { kept: await source.account(kept), aged: await source.account(aged) }
      const clickTimes = new Map<string, string>()
      const known = new Set<string>()
      let from = time(0, 0).slice(0, 10)
      for (const step of steps) {
        if (step.kind === 'remove') {
          const month = new Date(Date.UTC(2025, step.beforeMonth)).toISOString().slice(0, 10)
          if (month > from) from = month
          await removeKilled(aged, from, step.killedAfter)
        } else if (step.kind === 'erase') {
          for (const account of [kept, aged]) await apply(source, account, step)
        } else {
          // Clicks of removed months are rejected. Of a removed click a new conversion knows the campaign only.
          const isComparable = ({ id, clickedAt, clickId }: Row) =>
            step.resource === 'clicks'
              ? `${clickedAt}` >= from
              : known.has(id) || (clickTimes.get(`${clickId}`) ?? from) >= from
          const rows = step.rows.filter(isComparable)
          for (const { id, clickedAt } of rows) {
            known.add(id)
            if (clickedAt && !clickTimes.has(id)) clickTimes.set(id, `${clickedAt}`)
          }
          const given = step.resource === 'clicks' ? step.rows : rows
          const imported = await importContent(source.stores, aged, step.resource, given)
          expect(imported).toMatchObject({ rejected: given.length - rows.length })
          await importContent(source.stores, kept, step.resource, rows)
        }
        const left = [`/clicks?limit=200&from=${from}`, `/reports?group_by=region,country&from=${from}&to=2025-06-30`]
        for (const path of [...fromSums, ...left]) {
          const [whole, rest] = await Promise.all([
            read(source.app, path, keys.kept),
            read(source.app, path, keys.aged),
          ])
          expect([path, rest]).toEqual([path, whole])
        }
      }
      for (const account of [kept, aged]) {
        expect(await withWriter(source.stores, account, findDifferences)).toEqual([])
      }
      expect(await storedRowsOf(source.stores, 'untouched')).toBe(others)
    }),
    { numRuns: randomCases(2), endOnFailure: true },
  )
})

const steps = fc.array(fc.oneof(clicks, conversions, events, campaigns, removals, erasures), { maxLength: 4 })
/** Steps before the move and after it. Those after it begin with the repetition of the files that were killed before it. */
const moving = fc
  .tuple(clicks, conversions, conversions, events, removals, steps, conversions, steps)
  .map(([first, second, third, fourth, removal, more, changes, last]) => {
    const before: Step[] = [first, second, third, fourth, removal, ...more]
    const complete = (step: Step): Step[] => (step.kind === 'file' ? [{ ...step, lines: step.rows.length }] : [])
    return { before, after: [...before.flatMap(complete), changes, ...last] }
  })

it('a moved account gets the same rows and numbers from the same later imports, removals and erasures', async () => {
  let lives = 0
  await fc.assert(
    fc.asyncProperty(moving, async ({ before, after }) => {
      lives += 1
      const account = `moved-${lives}`
      const key = await source.account(account)
      for (const step of before) await apply(source, account, step)
      const output = folder(account)
      await command(source, 'account', 'export', '--account', account, '--output', output)
      await command(target, 'account', 'import', output)
      const expectEqual = async () => {
        // Other servers may still have it cached that a campaign is unknown.
        const [from, to] = [await source.open(), await target.open()]
        for (const path of [...fromSums, '/clicks?limit=200', '/events?limit=200']) {
          const [here, there] = await Promise.all([read(from, path, key), read(to, path, key)])
          expect([path, there]).toEqual([path, here])
        }
        expect(await contentOf(target.stores, account)).toEqual(await contentOf(source.stores, account))
      }
      await expectEqual()
      for (const step of after) {
        const [here, there] = [await apply(source, account, step), await apply(target, account, step)]
        expect([step, there]).toEqual([step, here])
      }
      await expectEqual()
      expect(await withWriter(target.stores, account, findDifferences)).toEqual([])
    }),
    { numRuns: randomCases(2), endOnFailure: true },
  )
})

async function command({ stores }: TestApp, ...words: string[]): Promise<void> {
  const { code, stderr } = await runHere(words, stores.environment)
  expect([code, stderr.replace(/^warning: .*\n/gm, '')]).toEqual([0, ''])
}

async function apply({ stores }: TestApp, account: string, step: Step): Promise<Tally | undefined> {
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

/** Removes the months before a date, first as a process that is killed; the next writer completes it. */
async function removeKilled(account: string, from: string, killedAfter: number): Promise<void> {
  const { stores } = source
  await setRetention(stores.postgres, account, { clickMonths: 1 })
  const date = new Date(from)
  const nowMs = date.setUTCMonth(date.getUTCMonth() + 1, 10)
  const killed = killedStores(stores)
  await withWriter(stores, account, async (writer) => {
    killed.allow(killedAfter)
    await removeOldMonths(new Writer({ ...writer, stores: killed.stores }), nowMs, 0).catch((error) => {
      if (!(error instanceof Killed)) throw error
    })
  })
  await stores.postgres`UPDATE retained_ranges SET recorded_at = recorded_at - interval '1 minute'`
  await withWriter(stores, account, (writer) => removeOldMonths(writer, nowMs, 0))
}

async function importFile(
  stores: TestApp['stores'],
  accountId: string,
  { resource, name, rows, lines }: File,
): Promise<Tally> {
  const account = await findAccount(stores.postgres, accountId)
  if (!account) throw new Error(`No account ${accountId}`)
  const read = rows.slice(0, lines).map((row, index) => ({ line: index + 1, text: '', fields: { ...row } }))
  async function* blocks() {
    yield read
  }
  const open = async () => ({
    ...{ rows: blocks(), from: 'json' as const, fractionRead: () => undefined },
    fingerprint: async () => name,
  })
  const tally: Tally = { read: 0, inserted: 0, updated: 0, duplicates: 0, rejected: 0 }
  const nowMs = Date.UTC(2026, 0, 1)
  await importRows(stores, { resource, account, open, rejects: undefined, nowMs }, tally, {
    ...running,
    onProgress: () => {},
  })
  return tally
}

/** Without times of storage, which differ. */
async function read(app: App, path: string, key: string): Promise<unknown> {
  const { statusCode, body } = await app.inject({
    ...{ url: `/api/v1${path}`, headers: { authorization: `Bearer ${key}` } },
  })
  expect([path, statusCode]).toEqual([path, 200])
  return JSON.parse(body, (name, value) => (name === 'storedAt' || name === 'asOf' ? undefined : value))
}

/** The process was killed before a statement. */
class Killed extends Error {}

/**
 * The same stores for a process that is killed before one of its statements, of Postgres or ClickHouse.
 * @returns stores, and a function that sets how many statements are sent from now on; at first all are
 */
function killedStores({ postgres, clickhouse }: Writer['stores']): {
  stores: Writer['stores']
  allow(statements: number): void
} {
  let left = Number.POSITIVE_INFINITY
  const spend = () => {
    if (left-- <= 0) throw new Killed()
  }
  const counted = new Proxy(postgres, {
    apply(target, self, given) {
      // Parts of statements are made by the same function.
      if (/^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)/.test(given[0]?.[0] ?? '')) spend()
      return Reflect.apply(target, self, given)
    },
  })
  return {
    stores: interceptClickHouse({ clickhouse, postgres: counted }, spend),
    allow(statements) {
      left = statements
    },
  }
}
