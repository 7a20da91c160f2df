import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resourceNames } from '../../../src/import/resourceNames.ts'
import { type Ended, runHere } from '../../cli/runCommand.ts'
import { openTestStores, type TestStores } from '../../kit/stores.ts'

// The stores of another build: the same tables, with the records of other migration files.
const recordsOfOtherBuilds = [
  { name: '0001_baseline.sql', checksum: 'of an earlier text' },
  { name: '0001_accounts.sql', checksum: 'of a file that the baseline replaced' },
]

describe.skipIf(process.env.TRIBUTARY_TEST_CLUSTER)('stores of another build', () => {
  let older: TestStores
  let newer: TestStores
  let folder: string

  beforeAll(async () => {
    ;[older, newer] = await Promise.all([openTestStores(), openTestStores()])
    older.markDirty()
    folder = await mkdtemp(join(tmpdir(), 'tributary-move-'))
    for (const { environment } of [older, newer]) {
      await run(
        environment,
        'account',
        'create',
        '--name',
        'Acme',
        '--id',
        'acme',
        '--plan',
        'pro',
        '--currency',
        'EUR',
      )
    }
    await run(older.environment, 'demo', '--account', 'acme', '--clicks', '3000', '--days', '10')
  })
  afterAll(async () => {
    await Promise.all([older?.close(), newer?.close()])
    await rm(folder, { recursive: true, force: true })
  })

  it('are moved by export and import', async () => {
    for (const resource of resourceNames) {
      const file = join(folder, `${resource}.ndjson`)
      await run(older.environment, 'export', resource, '--account', 'acme', '--output', file)
      await run(newer.environment, 'import', resource, file, '--account', 'acme')
      const [before, after] = await Promise.all([older, newer].map((stores) => readSorted(stores, resource)))
      expect(after).toEqual(before)
      expect(after?.length).toBeGreaterThan(0)
    }
    await run(newer.environment, 'verify')
  })

  it.each(recordsOfOtherBuilds)('are refused with one line that says how to move: $name $checksum', async (record) => {
    await older.postgres`UPDATE schema_migrations SET ${older.postgres(record)}`
    expect(await refusal()).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(oneLine('postgres')) })
  })

  it('are refused for the tables of ClickHouse too', async () => {
    await older.postgres`DROP SCHEMA public CASCADE`
    await older.postgres`CREATE SCHEMA public`
    const { client } = older.clickhouse
    await client.command({ query: "DELETE FROM schema_migrations WHERE name != ''" })
    await client.insert({ table: 'schema_migrations', values: recordsOfOtherBuilds, format: 'JSONEachRow' })
    expect((await refusal()).stderr).toMatch(oneLine('clickhouse'))
  })

  const refusal = (): Promise<Ended> => runHere(['migrate'], older.environment)
})

function oneLine(store: string): RegExp {
  return new RegExp(
    `^error: ${store}: the tables were created by another build .*tributary export.*tributary import.*\\n$`,
  )
}

async function run(environment: Record<string, string>, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere(words, environment)
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return stdout
}

async function readSorted({ environment }: TestStores, resource: string): Promise<string[]> {
  return (await run(environment, 'export', resource, '--account', 'acme')).trim().split('\n').sort()
}
