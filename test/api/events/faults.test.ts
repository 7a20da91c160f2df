// @module-tag long
// @module-tag node

import { cp } from 'node:fs/promises'
import { basename } from 'node:path'
import { expect, it } from 'vitest'
import { embeddedFaults, openEmbeddedServer } from '../../faults/embeddedFaults.ts'
import { engineTemplate } from '../../kit/engineTemplate.ts'
import { useFolder, useOpened } from '../../kit/fixtures.ts'

// The short form of `npm run faults`, which also fills a disk and has longer outages.
const effort = { connections: 16, repetitions: 1, outageMs: 1_000 }

const folder = useFolder()
const server = useOpened(async () => {
  await cp(await engineTemplate(), folder(), { recursive: true, filter: (path) => basename(path) !== 'run' })
  return await openEmbeddedServer(folder())
})

it.each([
  'the server is killed under load and restarted',
  'ClickHouse is killed under load',
  'the server is terminated under load and restarted',
  'Postgres is unavailable while caches are warm',
])('every acknowledged event, retried ones included, is stored exactly once when %s', async (name) => {
  const fault = embeddedFaults[name]
  if (!fault) throw new Error(`No such scenario: ${name}`)
  expect((await server.run(fault, effort)).faults).toEqual([])
})
