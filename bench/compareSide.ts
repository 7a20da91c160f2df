import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Build } from './compareBuild.ts'
import { type CompareData, eventClicks } from './compareData.ts'
import { checkTotals, compareReads } from './compareReads.ts'
import { perSecondOf, sendEvents, warmUp } from './eventsLoad.ts'
import { clickhousePid, type Program, startProgram, urlOf } from './processes.ts'
import { openClient, readList, runWrk, secondsSince, time } from './timing.ts'

/** A figure of one round: milliseconds (lower is better) or a rate per second (higher is better). */
export interface Figure {
  name: string
  unit: 'ms' | '/s'
  value: number
}

/** Sizes of the measurements of a round. */
export interface Sizes {
  only: RegExp
  /** Requests of each read. */
  requests: number
  /** Duration of each load of events and of the cached report. */
  seconds: number
  connections: readonly number[]
}

/** One commit with its own store, used only through its command and its API: its files may have other names. */
export class Side {
  readonly build: Build
  readonly #data: CompareData
  readonly #dataDir: string
  #keys = { reads: '', events: '' }

  constructor(build: Build, data: CompareData, dataDir: string) {
    this.build = build
    this.#data = data
    this.#dataDir = dataDir
  }

  /** Fills the store, unless an earlier run did so. @throws Error when a row is not stored */
  async fill(): Promise<void> {
    const keys = join(this.#dataDir, 'compare-keys.json')
    if (!existsSync(keys)) {
      await this.#whileServing(() => this.#importAll())
      await writeFile(keys, JSON.stringify(this.#keys))
    }
    this.#keys = JSON.parse(await readFile(keys, 'utf8'))
  }

  /**
   * Starts a server and measures every figure once.
   * @param facts results of the reads of both commits so far, by figure; new ones are added
   * @throws Error when a response or the stored rows are wrong
   */
  async measure(sizes: Sizes, facts: Map<string, string>): Promise<Figure[]> {
    return await this.#whileServing(async (url) => [
      ...(await this.#reads(url, sizes, facts)),
      ...(await this.#cached(url, sizes)),
      ...(await this.#events(url, sizes)),
      ...(await this.#exports(url, sizes)),
      ...(await this.#import(sizes)),
    ])
  }

  async #reads(url: string, { only, requests }: Sizes, facts: Map<string, string>): Promise<Figure[]> {
    const figures: Figure[] = []
    const client = openClient(this.#keys.reads, 1)
    const get = (path: string) => client.get(`${url}/api/v1${path}`)
    await checkTotals(this.#data, get)
    for (const { name, path, facts: factsOf } of compareReads(this.#data).filter((read) => only.test(read.name))) {
      const found = JSON.stringify(factsOf(JSON.parse(await get(path(0))) as never))
      const before = facts.get(name) ?? found
      if (found !== before) throw new Error(`${name}: ${found} is not what the other commit responds: ${before}`)
      facts.set(name, found)
      await time((number) => get(path(number + 1)), { requests: 5, connections: 1 })
      const { p50Ms } = await time((number) => get(path(number + 6)), { requests, connections: 1 })
      figures.push({ name: `${name}, p50`, unit: 'ms', value: p50Ms })
    }
    client.close()
    return figures
  }

  #cached(url: string, { only, seconds }: Sizes): Figure[] {
    const name = 'cached report, 16 connections'
    if (!only.test(name)) return []
    const { perSecond } = runWrk(`${url}/api/v1/reports?group_by=country&days=30`, this.#keys.reads, seconds)
    return [{ name, unit: '/s', value: perSecond }]
  }

  async #events(url: string, { only, seconds, connections }: Sizes): Promise<Figure[]> {
    const figures: Figure[] = []
    const load = { identifiers: eventClicks, withIds: true }
    const selected = connections.filter((count) => only.test(`events, ${count} connections`))
    const { events: key } = this.#keys
    if (selected.length > 0) await warmUp(url, { connections: 256, seconds: 6, key }, load)
    for (const count of selected) {
      // By then the events in flight at the end of the last load are stored.
      await sleep(1_000)
      const since = new Date().toISOString()
      const result = await sendEvents(url, { connections: count, seconds, run: `${count}`, key }, load)
      if (result.rejected + result.broken > 0) {
        throw new Error(`events: ${result.rejected} were rejected, ${result.broken} connections broke.`)
      }
      const stored = await this.#eventsSince(since, result.requests)
      if (stored < result.requests || stored > result.requests + count) {
        throw new Error(`events: ${stored} of ${result.requests} acknowledged events are stored.`)
      }
      const name = `events, ${count} connections`
      figures.push({ name, unit: '/s', value: perSecondOf(result) })
      figures.push({ name: `${name}, p99`, unit: 'ms', value: result.p99Us / 1000 })
    }
    return figures
  }

  /** Waits until all acknowledged events are stored; each connection may have one more in flight. @returns the stored ones */
  async #eventsSince(since: string, acknowledged: number): Promise<number> {
    const words = ['export', 'pixel-events', '--account', 'events', '--from', since]
    const count = async () => (await this.#run(words)).split('\n').length - 1
    let stored = await count()
    for (let attempt = 0; stored < acknowledged && attempt < 20; attempt++) {
      await sleep(500)
      stored = await count()
    }
    return stored
  }

  async #exports(url: string, { only }: Sizes): Promise<Figure[]> {
    const figures: Figure[] = []
    for (const format of ['ndjson', 'csv', 'parquet']) {
      const name = `export, ${format}`
      if (!only.test(name)) continue
      const { clicks } = this.#data
      const { seconds, rows = clicks } = await readList(`${url}/api/v1/clicks?format=${format}`, this.#keys.reads)
      if (rows !== clicks) throw new Error(`${name}: ${rows} rows of ${clicks}`)
      figures.push({ name, unit: '/s', value: clicks / seconds })
    }
    return figures
  }

  async #import({ only }: Sizes): Promise<Figure[]> {
    const name = 'import'
    if (!only.test(name)) return []
    const account = `import-${Date.now()}`
    await this.#run(['account', 'create', '--name', account, '--id', account])
    const startedMs = performance.now()
    await this.#importFile('clicks', 'import.ndjson', account, this.#data.importRows)
    return [{ name, unit: '/s', value: this.#data.importRows / secondsSince(startedMs) }]
  }

  async #importAll(): Promise<void> {
    const { clicks } = this.#data
    const limits = ['requests', 'events', 'identifier-events'].flatMap((name) => [`--${name}-per-minute`, '100000000'])
    await this.#run(['plan', 'set', 'scale', ...limits, '--click-allowance', '1000000000'])
    for (const [account, words] of [
      ['reads', ['--scopes', 'all']],
      ['events', ['--scopes', 'all', '--allow-events']],
    ] as const) {
      await this.#run(['account', 'create', '--name', account, '--id', account, '--plan', 'scale'])
      const created = await this.#run(['key', 'create', '--account', account, '--name', 'compare', ...words, '--json'])
      this.#keys[account] = (JSON.parse(created) as { key: string }).key
    }
    await this.#importFile('campaigns', 'campaigns.ndjson', 'reads')
    await this.#importFile('clicks', 'clicks.ndjson', 'reads', clicks)
    await this.#importFile('conversions', 'conversions.ndjson', 'reads', Math.floor(clicks / 100))
    await this.#importFile('campaigns', 'event-campaigns.ndjson', 'events')
    await this.#importFile('clicks', 'event-clicks.ndjson', 'events', eventClicks)
  }

  async #importFile(resource: string, file: string, account: string, rows?: number): Promise<void> {
    const words = ['import', resource, join(this.#data.folder, file), '--account', account, '--json']
    const { inserted, rejected } = JSON.parse(await this.#run(words)) as { inserted: number; rejected: number }
    if (rejected > 0 || inserted !== (rows ?? inserted)) {
      throw new Error(`import of ${file}: ${inserted} rows were inserted of ${rows}, ${rejected} rejected.`)
    }
  }

  /** Runs the command of the commit. @returns its standard output @throws Error when it fails */
  async #run(words: readonly string[]): Promise<string> {
    const child = spawn(process.execPath, [join(this.build.code, 'dist/src/main.js'), ...words], {
      cwd: this.build.code,
      env: this.#environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    if (code !== 0) throw new Error(`${this.build.name}: ${words[0]} ended with ${code}: ${stderr}`)
    return stdout
  }

  /** Runs a function while a server of this commit runs, and waits until its processes have exited. */
  async #whileServing<Result>(act: (url: string) => Promise<Result>): Promise<Result> {
    const { code, nodeFlags } = this.build
    const words = [...nodeFlags, join(code, 'dist/src/main.js'), 'serve', '--json']
    const server: Program = await startProgram(words, this.#environment())
    try {
      return await act(urlOf(server))
    } finally {
      await server.stop('SIGTERM')
      // The embedded engine exits two seconds later; it would disturb the measurement of the other commit.
      for (let attempt = 0; attempt < 60 && (await clickhousePid(this.#dataDir)) !== undefined; attempt++) {
        await sleep(500)
      }
    }
  }

  #environment(): NodeJS.ProcessEnv {
    const { PATH, HOME } = process.env
    return { PATH, HOME, DATA_DIR: this.#dataDir, PORT: '0', LOG_LEVEL: 'error' }
  }
}
