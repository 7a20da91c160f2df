// @module-tag long
// @module-tag node

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { embeddedFaults, openEmbeddedServer } from '../../faults/embeddedFaults.ts'

// The short form of `npm run faults`, which also fills a disk and has longer outages.
const effort = { connections: 16, repetitions: 1, outageMs: 1_000 }

let folder: string
let server: Awaited<ReturnType<typeof openEmbeddedServer>>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tributary-faults-'))
  await cp(inject('engines').template, folder, { recursive: true, filter: (path) => basename(path) !== 'run' })
  server = await openEmbeddedServer(folder)
})
afterAll(async () => {
  await server?.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
})

describe('every acknowledged event, retried ones included, is stored exactly once when', () => {
  it.each([
    'the server is killed under load and restarted',
    'ClickHouse is killed under load',
    'the server is terminated under load and restarted',
    'Postgres is unavailable while caches are warm',
  ])('%s', async (name) => {
    const fault = embeddedFaults[name]
    if (!fault) throw new Error(`No such scenario: ${name}`)
    expect((await server.run(fault, effort)).faults).toEqual([])
  })
})
