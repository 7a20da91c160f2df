// @module-tag all
// @module-tag postgres

import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { packageRoot } from '../../../src/package.ts'
import { readMigrations } from '../../../src/stores/migrations/files.ts'
import { useTestStores } from '../../kit/fixtures.ts'
import { describeClickHouse, describePostgres } from './describeSchema.ts'

const stores = useTestStores()
// Other versions of the servers write the same schema in other words, so the embedded engines are described.
const { clickhouseUrl, databaseUrl } = inject('engines')

/**
 * The checksums of the files of releases, without comments. Every store that ran a file refuses a program with another
 * checksum. A release adds its new files here.
 */
const released: Record<string, string> = {
  'clickhouse/0001_baseline.sql': '0de70621e26ccd95ebd35d2f1407c49bf73f6defa1bd8e21e8a2d578ff26b7bf',
  'clickhouse/0002_page_text.sql': 'b98f98d044ea4f2ee13d312e51c61caeeffeb1a93e1604e413f66a4f4ce5193f',
  'clickhouse/0003_costs.sql': 'b564525559ed5aca01f656122caf1c9087d7ff26129b19abae767eddbcc6853e',
  'clickhouse/0004_replica_settings.sql': 'bd6df632ce4a65ac73709553919b17c391af39067439b5d13dfb6ff6afd4b647',
  'clickhouse/0005_events_by_time.sql': '61554ea6b5c966eaa07825dbaba39d381b2b1411c3aeb51f17df6389658a58db',
  'postgres/0001_baseline.sql': '588f01746c1efcbced2b051ddd7e3578803e7a26245e6ad2bcca0d860a8d013b',
  'postgres/0002_process_claims.sql': 'd6f9390eedf1c8d33ac1b18ace91534d5cd6794ebd606f0beeb8ed467479a75f',
  'postgres/0003_costs.sql': '0b8aeb12a925acf8fc89939abbf70accc40c51fa2b7bae11d75f3cee6f6555a5',
  'postgres/0004_awaited_clicks.sql': 'd3d54d557dcae15cd4ddade8f138285d80b5e5add842dc5ad5ff796f40de10c3',
  'postgres/0005_key_views.sql': 'c85c6d94c7aba313b536c6f19cd2d9821d8be7d0a1d53fc820007486529511c2',
}

it('no file of a release has changed', async () => {
  const found: Record<string, string> = {}
  for (const store of ['clickhouse', 'postgres'] as const) {
    for (const { name, checksum } of await readMigrations(packageRoot, store)) {
      if (`${store}/${name}` in released) found[`${store}/${name}`] = checksum
    }
  }
  expect(found, 'These files are part of a release: restore them, and add a numbered file instead.').toEqual(released)
})

it('every file says which versions may read and write its result', async () => {
  for (const store of ['clickhouse', 'postgres'] as const) {
    for (const { name, sql } of await readMigrations(packageRoot, store)) {
      for (const use of ['readable', 'writable'])
        expect(sql, `${store}/${name}`).toMatch(new RegExp(`^-- ${use} from: \\d+\\.\\d+\\.\\d+$`, 'm'))
    }
  }
})

it.skipIf(databaseUrl)('the embedded Postgres stays on the major version of 1.0', async () => {
  // Another one does not open the folder of a store.
  const [row] = await stores.postgres`SHOW server_version`
  expect(row?.server_version).toMatch(/^18\./)
})

it.skipIf(clickhouseUrl)('a migrated store has the tables of clickhouse/schema.sql', async () => {
  const schema = await describeClickHouse(stores.clickhouse)
  await expect(schema).toMatchFileSnapshot(join(packageRoot, 'clickhouse/schema.sql'))
})

it.skipIf(databaseUrl)('a migrated store has the tables of postgres/schema.sql', async () => {
  const schema = await describePostgres(stores.postgres)
  await expect(schema).toMatchFileSnapshot(join(packageRoot, 'postgres/schema.sql'))
})
