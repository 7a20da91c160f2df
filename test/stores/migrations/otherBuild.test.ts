// @module-tag long

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
    const account = ['--name', 'Acme', '--id', 'acme', '--plan', 'pro', '--currency', 'EUR']
    await run(older.environment, 'account', 'create', ...account)
    await run(older.environment, 'demo', '--account', 'acme', '--clicks', '3000', '--days', '10')
  })
  afterAll(async () => {
    await Promise.all([older?.close(), newer?.close()])
    await rm(folder, { recursive: true, force: true })
  })

  it('are moved by account export and account import', async () => {
    const moved = join(folder, 'acme')
    await run(older.environment, 'account', 'export', '--account', 'acme', '--output', moved)
    await run(newer.environment, 'account', 'import', moved)
    for (const resource of resourceNames) {
      const [before, after] = await Promise.all([older, newer].map((stores) => readSorted(stores, resource)))
      expect(after).toEqual(before)
      expect(after?.length).toBeGreaterThan(0)
    }
    await run(newer.environment, 'verify')
  })

  it.each(recordsOfOtherBuilds)('are refused with one line that says how to move: $name $checksum', async (record) => {
    await older.postgres`UPDATE schema_migrations SET ${older.postgres({ ...record, version: '0.0.7' })}`
    const stderr = expect.stringMatching(oneLine('postgres', 'version 0.0.7'))
    expect(await refusal()).toEqual({ code: 1, stdout: '', stderr })
  })

  it('are refused if they do not know their version', async () => {
    await older.postgres`ALTER TABLE schema_migrations DROP COLUMN version`
    expect((await refusal()).stderr).toMatch(oneLine('postgres', 'a version that is not recorded'))
  })

  it('are refused for the tables of ClickHouse too', async () => {
    await older.postgres`DROP SCHEMA public CASCADE`
    await older.postgres`CREATE SCHEMA public`
    const { client } = older.clickhouse
    await client.command({ query: "DELETE FROM schema_migrations WHERE name != ''" })
    await client.insert({
      table: 'schema_migrations',
      values: recordsOfOtherBuilds.map((record) => ({ ...record, version: '0.0.8' })),
      format: 'JSONEachRow',
    })
    expect((await refusal()).stderr).toMatch(oneLine('clickhouse', 'version 0.0.8'))
  })

  const refusal = (): Promise<Ended> => runHere(['migrate'], older.environment)
})

function oneLine(store: string, maker: string): RegExp {
  const move = 'run "tributary account export" .*, then "tributary account import" .*'
  return new RegExp(`^error: ${store}: the tables were created by another build, ${maker}, .*${move}\\n$`)
}

async function run(environment: Record<string, string>, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere(words, environment)
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return stdout
}

async function readSorted({ environment }: TestStores, resource: string): Promise<string[]> {
  return (await run(environment, 'export', resource, '--account', 'acme')).trim().split('\n').sort()
}
