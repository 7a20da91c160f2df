// @module-tag long

import { describe, expect, it } from 'vitest'
import { runHere } from '../../cli/runCommand.ts'
import { useTestStores } from '../../kit/fixtures.ts'

// The stores of another build: the same tables, with the records of other migration files. An account is moved from them like
// any other: test/cli/accountExport.test.ts, test/properties/lifeOfData.test.ts.
const recordsOfOtherBuilds = [
  { name: '0001_baseline.sql', checksum: 'of an earlier text' },
  { name: '0001_accounts.sql', checksum: 'of a file that the baseline replaced' },
]

describe.skipIf(process.env.TRIBUTARY_TEST_CLUSTER)(
  'stores of another build are refused with one line that says how to move',
  () => {
    const stores = useTestStores({ isDirty: true })

    const expectRefusal = async (store: string, maker: string) => {
      const move = 'run "tributary account export" .*, then "tributary account import" .*'
      const line = new RegExp(`^error: ${store}: the tables were created by another build, ${maker}, .*${move}\\n$`)
      const stderr = expect.stringMatching(line)
      expect(await runHere(['migrate'], stores.environment)).toEqual({ code: 1, stdout: '', stderr })
    }

    it.each(recordsOfOtherBuilds)('by the records of Postgres: $name $checksum', async (record) => {
      const changed = stores.postgres({ ...record, version: '0.0.7', commit: 'abc' })
      await stores.postgres`UPDATE schema_migrations SET ${changed} WHERE name LIKE '0001%'`
      await expectRefusal('postgres', 'version 0\\.0\\.7 \\(commit abc\\)')
    })

    it('if they do not know their version', async () => {
      await stores.postgres`ALTER TABLE schema_migrations DROP COLUMN version, DROP COLUMN readable_from`
      await expectRefusal('postgres', 'a version that is not recorded')
    })

    it('by the records of ClickHouse', async () => {
      await stores.postgres`DROP SCHEMA public CASCADE`
      await stores.postgres`CREATE SCHEMA public`
      const { client } = stores.clickhouse
      await client.command({ query: "DELETE FROM schema_migrations WHERE name != ''" })
      const values = recordsOfOtherBuilds.map((record) => ({ ...record, version: '0.0.8' }))
      await client.insert({ table: 'schema_migrations', values, format: 'JSONEachRow' })
      await expectRefusal('clickhouse', 'version 0\\.0\\.8 \\(commit unknown\\)')
    })
  },
)
