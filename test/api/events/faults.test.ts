import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { type Bed, openBed } from '../../faults/processes.ts'
import { scenarios } from '../../faults/scenarios.ts'

// The short form of `npm run faults`, which also fills a disk and keeps stores away for longer.
const effort = { connections: 16, times: 1, awayMs: 3_000 }

let folder: string
let bed: Bed
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tributary-faults-'))
  await cp(inject('engines').template, folder, { recursive: true, filter: (path) => basename(path) !== 'run' })
  bed = await openBed(folder)
}, 120_000)
afterEach(async () => {
  await bed?.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
}, 120_000)

describe('every event answered 200 is stored exactly once, and so is every one that was sent again, when', () => {
  const names = [
    'the server is killed under load and started again',
    'the server is told to stop under load and started again',
    'ClickHouse is killed under load',
    'Postgres is away while caches are warm',
  ]
  it.each(names)('%s', { timeout: 180_000 }, async (name) => {
    const outcome = await scenarios[name]?.(bed, effort, folder)
    if (!outcome) throw new Error(`There is no scenario ${name}.`)
    expect([...(outcome.faults ?? []), ...(await bed.reckon(outcome.load))]).toEqual([])
  })
})
