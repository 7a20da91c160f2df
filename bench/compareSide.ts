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
import { perSecondOf, sendEvents } from './eventsLoad.ts'
import { clickhousePid, type Program, startProgram, urlOf } from './processes.ts'
import { readList } from './readList.ts'
import { openCaller, time } from './timing.ts'
import { runWrk } from './wrk.ts'

/** A figure of one round: milliseconds, of which fewer are better, or something a second, of which more are. */
export interface Figure {
  name: string
  unit: 'ms' | '/s'
  value: number
}

/** How much is measured in a round. */
export interface Sizes {
  only: RegExp
  /** Requests of each read. */
  requests: number
  /** Of each load of events and of the cached report. */
  seconds: number
  connections: readonly number[]
}

/** One commit with a store of its own. It is used by its command and its API alone, since its files may have any names. */
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

  /** Fills the store, unless an earlier run did. @throws Error when a row is not stored */
  async fill(): Promise<void> {
    const keys = join(this.#dataDir, 'compare-keys.json')
    if (!existsSync(keys)) {
      await this.#serving(() => this.#importAll())
      await writeFile(keys, JSON.stringify(this.#keys))
    }
    this.#keys = JSON.parse(await readFile(keys, 'utf8'))
  }

  /**
   * Measures everything once, beside a server that is started for it.
   * @param facts what the reads of both commits found so far, by the name of their figure
   * @throws Error when a response or what is stored is not what it must be
   */
  async measure(sizes: Sizes, facts: Map<string, string>): Promise<Figure[]> {
    return await this.#serving(async (url) => [
      ...(await this.#reads(url, sizes, facts)),
      ...(await this.#cached(url, sizes)),
      ...(await this.#events(url, sizes)),
      ...(await this.#exports(url, sizes)),
      ...(await this.#import(sizes)),
    ])
  }

  async #reads(url: string, { only, requests }: Sizes, facts: Map<string, string>): Promise<Figure[]> {
    const figures: Figure[] = []
    const caller = openCaller(this.#keys.reads, 1)
    const get = (path: string) => caller.get(`${url}/api/v1${path}`)
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
    caller.close()
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
    const load = { attribution: 'click', identifiers: eventClicks, withIds: true } as const
    const wanted = connections.filter((count) => only.test(`events, ${count} connections`))
    const { events: key } = this.#keys
    if (wanted.length > 0) await sendEvents(url, { connections: 256, seconds: 4, run: 'warm up', key }, load)
    for (const count of wanted) {
      // What the load before it left in flight is stored by then.
      await sleep(1_000)
      const since = new Date().toISOString()
      const seen = await sendEvents(url, { connections: count, seconds, run: `${count}`, key }, load)
      if (seen.refused + seen.broken > 0) throw new Error(`events: ${seen.refused} were refused, ${seen.broken} broke.`)
      const stored = await this.#eventsSince(since, seen.requests)
      if (stored < seen.requests || stored > seen.requests + count) {
        throw new Error(`events: ${stored} are stored of ${seen.requests} that were answered.`)
      }
      const name = `events, ${count} connections`
      figures.push({ name, unit: '/s', value: perSecondOf(seen) })
      figures.push({ name: `${name}, p99`, unit: 'ms', value: seen.p99Us / 1000 })
    }
    return figures
  }

  /** Waits until as many are stored as were answered; the load ends while each connection has one more in flight. */
  async #eventsSince(since: string, answered: number): Promise<number> {
    const words = ['export', 'pixel-events', '--account', 'events', '--from', since]
    const count = async () => (await this.#run(words)).split('\n').length - 1
    let stored = await count()
    for (let attempt = 0; stored < answered && attempt < 20; attempt++) {
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
    return [{ name, unit: '/s', value: this.#data.importRows / ((performance.now() - startedMs) / 1000) }]
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

  /** Runs the commit's command. @returns its standard output @throws Error when it fails */
  async #run(words: readonly string[]): Promise<string> {
    const child = spawn(process.execPath, [join(this.build.code, 'dist/src/main.js'), ...words], {
      ...{ cwd: this.build.code, env: this.#environment(), stdio: ['ignore', 'pipe', 'pipe'] },
    })
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    if (code !== 0) throw new Error(`${this.build.name}: ${words[0]} ended with ${code}: ${stderr}`)
    return stdout
  }

  /** Does something beside a server of this commit, and waits until its processes are gone. */
  async #serving<Result>(act: (url: string) => Promise<Result>): Promise<Result> {
    const { code, nodeFlags } = this.build
    const words = [...nodeFlags, join(code, 'dist/src/main.js'), 'serve', '--json']
    const server: Program = await startProgram(words, this.#environment())
    try {
      return await act(urlOf(server))
    } finally {
      await server.stop('SIGTERM')
      // The embedded engine runs on for a moment; the other commit is measured without it.
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
