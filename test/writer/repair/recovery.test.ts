import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { readClickHouseClock } from '../../../src/stores/clickhouse/clock.ts'
import type { ReadOrder } from '../../../src/stores/clickhouse/reads.ts'
import { selectRows } from '../../../src/stores/clickhouse/select.ts'
import { ch } from '../../../src/stores/clickhouse/sql.ts'
import { migrationLease } from '../../../src/stores/migrations/migrate.ts'
import { acquireLease, isHeld } from '../../../src/stores/postgres/lease.ts'
import { sumDifferences } from '../../../src/writer/derived/sumDifferences.ts'
import { sumsTableNames } from '../../../src/writer/derived/sumsTables.ts'
import { Writer } from '../../../src/writer/lease/writer.ts'
import { openWriter } from '../../../src/writer/openWriter.ts'
import { findDifferences } from '../../../src/writer/repair/differences.ts'
import { interceptStatements } from '../../import/interceptedStatements.ts'
import { importContent, makeAccount, rowsOf } from '../../import/runImport.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { changeTables, storeMetadata } from '../../kit/rows.ts'
import { openTestStores, type TestStores } from '../../kit/stores.ts'
import {
  clickTables,
  conversionTables,
  ImportKilled,
  killedStores,
  shortWindow,
  type WrittenTable,
} from '../killedImport.ts'

let stores: TestStores
let account: string
beforeAll(async () => {
  stores = await openTestStores()
  stores.markDirty()
  // A version that a crash took back must not have been merged with the one before it, as it never would be.
  await changeTables(
    stores,
    `ALTER TABLE conversions MODIFY SETTING
      max_bytes_to_merge_at_max_space_in_pool = 1, max_bytes_to_merge_at_min_space_in_pool = 1`,
  )
})
afterAll(() => stores.close())
beforeEach(async () => {
  account = await makeAccount(stores)
})

interface ClickRow {
  id: string
  clickedAt: string
  campaignId?: string | undefined
  country?: string | undefined
  cost?: number | undefined
  isBot?: boolean | undefined
  isTest?: boolean | undefined
}

interface ConversionRow {
  id: string
  convertedAt: string
  updatedAt: string
  status: string
  clickId?: string | undefined
  country?: string | undefined
  isTest?: boolean | undefined
}

type Step = ({ resource: 'clicks'; rows: ClickRow[] } | { resource: 'conversions'; rows: ConversionRow[] }) & {
  /** Tables that the batch did not reach when the import was killed; undefined: it is not killed. */
  killedWithout?: WrittenTable[] | undefined
}

/** What must be in the stores after all steps, computed without them. */
class Model {
  readonly clicks = new Map<string, ClickRow>()
  readonly conversions = new Map<string, { row: ConversionRow; file: string; line: number }>()

  apply({ resource, rows }: Step): void {
    if (resource === 'clicks') {
      for (const row of rows) if (!this.clicks.has(row.id)) this.clicks.set(row.id, row)
      return
    }
    const file = JSON.stringify(rows)
    for (const [line, row] of rows.entries()) {
      const present = this.conversions.get(row.id)
      const wins =
        !present ||
        row.updatedAt > present.row.updatedAt ||
        (row.updatedAt === present.row.updatedAt && file === present.file && line > present.line)
      if (wins) this.conversions.set(row.id, { row, file, line })
    }
  }

  /** Sums by some key of a click, as `key: clicks/cost`. */
  sums(keysOf: (row: ClickRow) => string[]): string[] {
    const sums = new Map<string, { clicks: number; cost: number }>()
    for (const row of this.clicks.values()) {
      if (row.isBot || row.isTest) continue
      for (const key of keysOf(row)) {
        const sum = sums.get(key) ?? { clicks: 0, cost: 0 }
        sums.set(key, { clicks: sum.clicks + 1, cost: sum.cost + (row.cost ?? 0) })
      }
    }
    return [...sums].map(([key, { clicks, cost }]) => `${key}: ${clicks}/${cost}`).sort()
  }

  conversionRows(): string[] {
    return [...this.conversions.values()]
      .map(({ row }) => {
        const click = this.clicks.get(row.clickId ?? '')
        const country = row.country ?? click?.country ?? ''
        return [row.id, row.convertedAt, row.status, country, click?.campaignId ?? '', click?.clickedAt ?? ''].join(' ')
      })
      .sort()
  }

  convertedClicks(): string[] {
    return [...this.conversions.values()]
      .flatMap(({ row }) => {
        const click = this.clicks.get(row.clickId ?? '')
        return click ? [`${click.id} ${click.clickedAt} ${row.id} ${Boolean(row.isTest)}`] : []
      })
      .sort()
  }
}

const dimensionsOf = ({ campaignId = '', country = '' }: ClickRow): Record<string, string> => ({
  campaign: campaignId,
  country,
  device: '',
  os: '',
  browser: '',
  offer: '',
  landing: '',
  traffic_source: '',
})

async function lines(query: string): Promise<string[]> {
  return (await rowsOf<{ line: string }>(stores, query)).map(({ line }) => line).sort()
}

const iso = (column: string) => `formatDateTime(${column}, '%Y-%m-%dT%H:%i:%SZ')`
const sums = `sum(clicks), '/', toFloat64(sum(cost))`

/** Compares every table with the model, and the sums tables with `differences`. */
async function mustEqual(model: Model): Promise<void> {
  const ofAccount = `account_id = '${account}'`
  expect(
    await lines(`SELECT concat(id, ' ', ${iso('clicked_at')}) AS line FROM clicks FINAL WHERE ${ofAccount}`),
  ).toEqual([...model.clicks.values()].map((row) => `${row.id} ${row.clickedAt}`).sort())
  expect(
    await lines(
      `SELECT concat(id, ' ', ${iso('clicked_at')}, ' ', campaign_id) AS line FROM click_index FINAL WHERE ${ofAccount}`,
    ),
  ).toEqual([...model.clicks.values()].map((row) => `${row.id} ${row.clickedAt} ${row.campaignId ?? ''}`).sort())
  const having = 'HAVING sum(clicks) != 0 OR sum(cost) != 0'
  expect(
    await lines(`SELECT concat(dimension, ' ', toString(day), ' ', value, ': ', ${sums}) AS line
      FROM sums_by_day WHERE ${ofAccount} GROUP BY dimension, day, value ${having}`),
  ).toEqual(
    model.sums((row) =>
      Object.entries(dimensionsOf(row)).map(
        ([dimension, value]) => `${dimension} ${row.clickedAt.slice(0, 10)} ${value}`,
      ),
    ),
  )
  expect(
    await lines(`SELECT concat(dimension, ' ', campaign_id, ' ', toString(day), ' ', value, ': ', ${sums}) AS line
      FROM sums_by_day_and_campaign WHERE ${ofAccount} GROUP BY dimension, campaign_id, day, value ${having}`),
  ).toEqual(
    model.sums((row) =>
      Object.entries(dimensionsOf(row))
        .filter(([dimension]) => dimension !== 'campaign')
        .map(([dimension, value]) => `${dimension} ${row.campaignId ?? ''} ${row.clickedAt.slice(0, 10)} ${value}`),
    ),
  )
  expect(
    await lines(`SELECT concat(${iso('bucket')}, ' ', campaign_id, ': ', ${sums}) AS line
      FROM sums_by_quarter_hour WHERE ${ofAccount} GROUP BY bucket, campaign_id ${having}`),
  ).toEqual(
    model.sums((row) => {
      const minutes = Math.floor(Number(row.clickedAt.slice(14, 16)) / 15) * 15
      return [`${row.clickedAt.slice(0, 14)}${String(minutes).padStart(2, '0')}:00Z ${row.campaignId ?? ''}`]
    }),
  )
  for (const name of sumsTableNames) {
    const span = { accountId: account, fromMs: Date.UTC(2026, 0, 1), untilMs: Date.UTC(2026, 3, 1) }
    expect(await selectRows(stores.clickhouse, sumDifferences(name, span), { label: 'test' })).toEqual([])
  }
  expect(
    await lines(`SELECT concat(id, ' ', ${iso('converted_at')}, ' ', status, ' ', country, ' ', click_campaign_id, ' ',
      ifNull(${iso('click_at')}, '')) AS line FROM conversions FINAL WHERE ${ofAccount}`),
  ).toEqual(model.conversionRows())
  expect(
    await lines(
      `SELECT concat(id, ' ', ${iso('converted_at')}) AS line FROM conversion_index FINAL WHERE ${ofAccount}`,
    ),
  ).toEqual([...model.conversions.values()].map(({ row }) => `${row.id} ${row.convertedAt}`).sort())
  expect(
    await lines(`SELECT concat(click_id, ' ', ${iso('clicked_at')}, ' ', conversion_id, ' ', toString(is_test)) AS line
      FROM converted_clicks FINAL WHERE ${ofAccount}`),
  ).toEqual(model.convertedClicks())
  expect(await stores.postgres`SELECT token FROM import_batches WHERE account_id = ${account}`).toEqual([])
}

/** @returns whether it was killed before it was repeated to its end */
async function run(step: Step): Promise<boolean> {
  const { resource, rows, killedWithout } = step
  let hasDied = false
  if (killedWithout) {
    const killed = importContent(killedStores(stores, account, killedWithout), account, resource, rows, shortWindow)
    await killed.catch((error: unknown) => {
      if (!(error instanceof ImportKilled)) throw error
      hasDied = true
    })
  }
  await importContent(stores, account, resource, rows)
  return hasDied
}

/** @returns number of killed steps */
async function runAll(steps: readonly Step[]): Promise<number> {
  const model = new Model()
  let deaths = 0
  for (const step of steps) {
    if (await run(step)) deaths += 1
    model.apply(step)
  }
  await mustEqual(model)
  return deaths
}

const click = (n: number, more: Partial<ClickRow> = {}): ClickRow => ({
  id: `k${n}`,
  clickedAt: `2026-0${1 + (n % 3)}-1${n % 10}T10:${10 + n}:00Z`,
  campaignId: `c${n % 2}`,
  cost: 0.25,
  ...more,
})
const conversion = (n: number, more: Partial<ConversionRow> = {}): ConversionRow => ({
  id: `v${n}`,
  convertedAt: `2026-02-0${1 + n}T00:00:00Z`,
  updatedAt: '2026-02-01T00:00:00Z',
  status: 'approved',
  ...more,
})

describe('after a killed import', () => {
  const before: Step = { resource: 'clicks', rows: [click(1), click(2)] }
  const rows = [click(2), click(3), click(4, { isBot: true }), click(5, { country: 'DE' })]

  // Each sums table alone: test/writer/unknownOutcome.test.ts; any tables: the random imports below.
  const clickKills: WrittenTable[][] = [['clicks'], ['click_index'], [...sumsTableNames]]
  it.each(clickKills.map((tables) => ({ tables })))(
    'clicks are exact when its batch did not reach $tables',
    async ({ tables }) => {
      expect(await runAll([before, { resource: 'clicks', rows, killedWithout: tables }])).toBe(1)
    },
  )

  const conversionKills: WrittenTable[][] = [
    ['conversions'],
    ['conversion_index', 'converted_clicks'],
    [...sumsTableNames],
  ]
  it.each(conversionKills.map((tables) => ({ tables })))(
    'conversions are exact when its batch did not reach $tables',
    async ({ tables }) => {
      const deaths = await runAll([
        before,
        {
          resource: 'conversions',
          rows: [conversion(1, { clickId: 'k1' }), conversion(2, { clickId: 'k9' }), conversion(3)],
        },
        {
          resource: 'conversions',
          rows: [
            conversion(1, { clickId: 'k2', convertedAt: '2026-03-01T00:00:00Z', updatedAt: '2026-03-01T00:00:00Z' }),
            conversion(2, { updatedAt: '2026-03-01T00:00:00Z', status: 'refunded' }),
            conversion(4, { clickId: 'k1' }),
          ],
          killedWithout: tables,
        },
      ])
      expect(deaths).toBe(1)
    },
  )

  it('an import of another resource repairs its days', async () => {
    const killed = killedStores(stores, account, ['sums_by_day'])
    await expect(importContent(killed, account, 'clicks', [click(1)], shortWindow)).rejects.toThrow(ImportKilled)
    const done = await importContent(stores, account, 'campaigns', [{ id: 'c', name: 'C' }])
    expect(done.said).toEqual([`An earlier import into account ${account} was interrupted; repairing its batches.`])
    const model = new Model()
    model.apply({ resource: 'clicks', rows: [click(1)] })
    await mustEqual(model)
  })

  it('with a repair that is still running in ClickHouse, the next writer first ends that repair', async () => {
    const { client } = stores.clickhouse
    const queryId = `write ${account} left`
    const lease = await acquireLease(stores.postgres, `writer:${account}`)
    await lease.recordStatementDeadline(await readClickHouseClock(stores.clickhouse))
    await lease.release()
    const isRunning = async () =>
      (await rowsOf(stores, `SELECT 1 FROM system.processes WHERE query_id = '${queryId}'`)).length > 0
    const left = client.command({
      query: `INSERT INTO sums_by_day (account_id, dimension, day, value, clicks)
              SELECT '${account}', 'country', '2026-01-11', 'DE', sleepEachRow(3) + 1 FROM numbers(100)`,
      query_id: queryId,
      clickhouse_settings: { max_block_size: '1' },
    })
    const ended = expect(left).rejects.toThrow()
    await expect.poll(isRunning).toBe(true)
    await importContent(stores, account, 'clicks', [click(1)])
    await ended
    expect(await isRunning()).toBe(false)
    const model = new Model()
    model.apply({ resource: 'clicks', rows: [click(1)] })
    await mustEqual(model)
  })

  it('that stored clicks but did not attribute conversions, the next import attributes them', async () => {
    await importContent(stores, account, 'conversions', [conversion(1, { clickId: 'k1' })])
    // The ledger is clean and the click is there: only the last step is missing.
    await importContent(stores, account, 'clicks', [click(2)])
    await stores.clickhouse.client.command({
      query: `INSERT INTO clicks (account_id, id, clicked_at) VALUES ('${account}', 'k1', '2026-01-11 10:11:00')`,
    })
    await importContent(stores, account, 'offers', [])
    expect(await lines(`SELECT click_id AS line FROM converted_clicks FINAL WHERE account_id = '${account}'`)).toEqual([
      'k1',
    ])
  })
})

it('after random imports in random order that are killed at random points, every table matches the model', async () => {
  const day = fc.integer({ min: 1, max: 4 }).map((n) => `2026-0${n > 2 ? 2 : 1}-0${n}T0${n}:${10 + 13 * (n % 4)}:00Z`)
  const clickId = fc.integer({ min: 0, max: 6 }).map((n) => `k${n}`)
  const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 2 })
  const flag = fc.constantFrom(undefined, undefined, undefined, true, false)
  const clickRow: fc.Arbitrary<ClickRow> = fc.record({
    id: clickId,
    clickedAt: day,
    campaignId: optional(fc.constantFrom('c1', 'c2')),
    country: optional(fc.constantFrom('DE', 'US')),
    cost: optional(fc.constantFrom(0.25, 1.5, 0)),
    isBot: flag,
    isTest: flag,
  })
  const conversionRow: fc.Arbitrary<ConversionRow> = fc.record({
    id: fc.constantFrom('v1', 'v2', 'v3'),
    convertedAt: day,
    updatedAt: day,
    status: fc.constantFrom('approved', 'pending', 'refunded'),
    clickId: optional(clickId),
    country: optional(fc.constantFrom('FR')),
    isTest: flag,
  })
  const death = <T extends WrittenTable>(tables: readonly T[]) =>
    fc.option(fc.subarray([...tables]), { nil: undefined, freq: 2 })
  const rows = <T>(row: fc.Arbitrary<T>) => fc.array(row, { minLength: 1, maxLength: 6 })
  const clicks = <T>(killedWithout: fc.Arbitrary<T>) =>
    fc.record({ resource: fc.constant('clicks' as const), rows: rows(clickRow), killedWithout })
  const conversions = <T>(killedWithout: fc.Arbitrary<T>) =>
    fc.record({ resource: fc.constant('conversions' as const), rows: rows(conversionRow), killedWithout })
  const step: fc.Arbitrary<Step> = fc.oneof(clicks(death(clickTables)), conversions(death(conversionTables)))
  // The first import stores a row, so that it reaches the insert at which it is killed.
  const killed: fc.Arbitrary<Step> = fc.oneof(
    clicks(fc.subarray([...clickTables])),
    conversions(fc.subarray([...conversionTables])),
  )
  const history = fc
    .tuple(killed, fc.array(step, { minLength: 1, maxLength: 5 }))
    .map(([first, rest]) => [first, ...rest])
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      account = await makeAccount(stores)
      expect(await runAll(steps)).toBeGreaterThan(0)
    }),
    { numRuns: randomCases(2), endOnFailure: true },
  )
})

describe('two writers', () => {
  // An import warns of campaigns that the account does not have.
  beforeEach(() => storeMetadata(stores, 'campaigns', account, [{ id: 'c0' }, { id: 'c1' }]))

  it('of one account run one after the other, and the second reports that it waits', async () => {
    let second: ReturnType<typeof importContent> | undefined
    const held = interceptStatements(stores, /^INSERT INTO clicks/, async () => {
      await new Promise<void>((resolve) => {
        second = importContent(stores, account, 'clicks', [click(2), click(3)], { onMessage: () => resolve() })
      })
    })
    const first = await importContent(held, account, 'clicks', [click(1), click(2)])
    expect([first, await second]).toMatchObject([
      { inserted: 2, said: [] },
      { inserted: 1, said: [`Another writer is active on account ${account}; waiting for it to end.`] },
    ])
    const model = new Model()
    model.apply({ resource: 'clicks', rows: [click(1), click(2), click(3)] })
    await mustEqual(model)
  })

  it('of two accounts do not wait for each other', async () => {
    const lease = await acquireLease(stores.postgres, `writer:${await makeAccount(stores)}`)
    try {
      expect((await importContent(stores, account, 'clicks', [click(1)])).said).toEqual([])
    } finally {
      await lease.release()
    }
  })

  it('wait while the stores are being migrated, and report it', async () => {
    const migration = await acquireLease(stores.postgres, migrationLease)
    const said: string[] = []
    let writing: Promise<Writer> | undefined
    await new Promise<void>((resolve) => {
      const onMessage = (line: string) => resolve(void said.push(line))
      writing = openWriter(stores, account, { onMessage, signal: new AbortController().signal })
    })
    expect(said).toEqual(['The stores are being migrated; waiting for the migration to end.'])
    expect(await stores.postgres`SELECT 1 FROM leases WHERE name = ${`writer:${account}`} AND owner <> ''`).toEqual([])
    await migration.release()
    await (await writing)?.close()
  })

  it('and a migration never hold their leases at the same time', async () => {
    const { postgres } = stores
    const inside = new Set<string>()
    const meetings: string[][] = []
    const be = async (who: string) => {
      inside.add(who)
      await postgres`SELECT 1`
      meetings.push([...inside])
      inside.delete(who)
    }
    const write = async () => {
      const lease = await acquireLease(postgres, `writer:${account}`, { blockedBy: migrationLease })
      await be('writer')
      await lease.release()
    }
    const migrateOnce = async () => {
      const lease = await acquireLease(postgres, migrationLease)
      while (await isHeld(postgres, 'writer:%'));
      await be('migration')
      await lease.release()
    }
    for (let round = 0; round < 8; round++)
      await Promise.all(round % 2 ? [write(), migrateOnce()] : [migrateOnce(), write()])
    expect(meetings).toHaveLength(16)
    expect(meetings.filter(({ length }) => length > 1)).toEqual([])
  })

  it('of an older version than the migrated stores write nothing', async () => {
    await stores.postgres`INSERT INTO schema_migrations (name, checksum) VALUES ('9999_future.sql', 'x')`
    try {
      const late = importContent(stores, account, 'clicks', [click(1)])
      await expect(late).rejects.toThrow('run a newer version')
    } finally {
      await stores.postgres`DELETE FROM schema_migrations WHERE name = '9999_future.sql'`
    }
    await mustEqual(new Model())
  })

  describe('with an expired lease, as after a suspended machine,', () => {
    /** Stores after which an hour has passed for the lease. @param meanwhile what other processes did in that hour */
    function sleeping(meanwhile: () => Promise<unknown>): TestStores {
      let sleptMs = 0
      const systemNow = Date.now.bind(Date)
      vi.spyOn(Date, 'now').mockImplementation(() => systemNow() + sleptMs)
      const client = new Proxy(stores.clickhouse.client, {
        get(target, name) {
          const value = Reflect.get(target, name)
          if (name !== 'read') return typeof value === 'function' ? value.bind(target) : value
          return async (order: ReadOrder) => {
            if (sleptMs === 0) {
              sleptMs = 3_600_000
              await stores.postgres`
                UPDATE leases SET expires_at = clock_timestamp() - interval '1 hour'
                WHERE name = ${`writer:${account}`}`
              await meanwhile()
            }
            return await target.read(order)
          }
        },
      })
      return { ...stores, clickhouse: { ...stores.clickhouse, client, reader: client } }
    }
    afterEach(() => vi.restoreAllMocks())

    it('continue when no other writer has acquired it', async () => {
      const done = await importContent(
        sleeping(async () => {}),
        account,
        'clicks',
        [click(1)],
      )
      expect(done).toMatchObject({ inserted: 1 })
      const model = new Model()
      model.apply({ resource: 'clicks', rows: [click(1)] })
      await mustEqual(model)
    })

    it('write nothing more after a migration has run', async () => {
      const late = importContent(
        sleeping(() => isHeld(stores.postgres, 'writer:%')),
        account,
        'clicks',
        [click(1)],
      )
      await expect(late).rejects.toThrow('another one may have taken over')
      await mustEqual(new Model())
    })
  })

  it('report what ended a comparison, unlike an API caller', async () => {
    const writer = await openWriter(stores, account, { onMessage: () => {}, signal: new AbortController().signal })
    const signal = AbortSignal.abort(new Error('interrupted'))
    await expect(findDifferences(new Writer({ ...writer, signal }))).rejects.toThrow('interrupted')
    const ending = new AbortController()
    const reading = selectRows(stores.clickhouse, ch`SELECT sleep(3)`, { label: 'test', signal: ending.signal })
    ending.abort(new Error('interrupted'))
    await expect(reading).rejects.toThrow('interrupted')
    await writer.close()
  })

  it('never both write: a writer that lost its lease sends no more statements', async () => {
    const stolen = new Proxy(stores.clickhouse.client, {
      get(target, name) {
        const value = Reflect.get(target, name)
        if (name !== 'read') return typeof value === 'function' ? value.bind(target) : value
        return async (order: ReadOrder) => {
          await stores.postgres`UPDATE leases SET fence = fence + 1, owner = 'another' WHERE name = ${`writer:${account}`}`
          return await target.read(order)
        }
      },
    })
    const clickhouse = { ...stores.clickhouse, client: stolen, reader: stolen }
    const late = importContent({ ...stores, clickhouse }, account, 'clicks', [click(1)])
    await expect(late).rejects.toThrow('another one may have taken over')
    await stores.postgres`DELETE FROM leases WHERE name = ${`writer:${account}`}`
    await mustEqual(new Model())
  })
})
