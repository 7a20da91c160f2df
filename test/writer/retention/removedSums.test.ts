// @module-tag long

import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { storeRemovedSums } from '../../../src/writer/retention/removedSums.ts'
import { makeAccount, rowsOf } from '../../import/runImport.ts'
import { useTestStores } from '../../kit/fixtures.ts'
import { rowsOfEveryNode } from '../../kit/rows.ts'
import { withWriter } from '../withWriter.ts'

const stores = useTestStores()

it('the ids of removed clicks of an imported account are stored in blocks of limited size', async () => {
  const account = await makeAccount(stores)
  const rows = 300_000
  function* lines() {
    for (let first = 0; first < rows; first += 10_000) {
      const ids = Array.from({ length: 10_000 }, (_, n) => `k${first + n}`)
      yield ids.map((id) => `{"id":"${id}","clicked_at":"2024-01-05 10:00:00.000","campaign_id":"c"}\n`).join('')
    }
  }
  const open = (table: string) => Readable.from(table === 'click_index' ? lines() : [], { objectMode: false })
  await withWriter(stores, account, (writer) =>
    storeRemovedSums(writer, { clicksMs: Date.UTC(2024, 1, 1), eventsMs: 0 }, open),
  )
  const ofAccount = `SELECT toUInt32(count()) AS rows FROM click_index WHERE account_id = '${account}'`
  expect(await rowsOf(stores, ofAccount)).toEqual([{ rows }])
  // Merged parts remain for eight minutes.
  const query = `SELECT rows FROM system.parts WHERE database = currentDatabase() AND table = 'click_index' AND level = 0`
  const blocks = await rowsOfEveryNode<{ rows: number }>(stores, query)
  expect(Math.max(...blocks.map(({ rows }) => rows))).toBeLessThanOrEqual(262_144)
})
