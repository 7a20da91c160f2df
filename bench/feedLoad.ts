import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { clickOf } from './compareData.ts'
import { feedPrefix } from './data.ts'
import { type BenchStores, select } from './stores.ts'

const conversionShare = 0.01
/** A third of the conversions change, this time after they were sent. */
const changeAfterMs = 10_000

/** Time between two looks for clicks that are not visible yet. */
export const probeMs = 500

/** Rows as a tracker sends them, as NDJSON. */
export class Rows {
  /** Different clicks. */
  clicks = 0
  readonly #accounts: number
  readonly #repeated: number
  readonly #repeatable: number
  readonly #sent: string[] = []
  #lastClick = { accountId: '', id: '' }
  readonly #changes: { atMs: number; row: object }[] = []
  #number = 0

  /** @param repeatable how many of the last rows are repeated */
  constructor(accounts: number, repeated: number, repeatable: number) {
    this.#accounts = accounts
    this.#repeated = repeated
    this.#repeatable = repeatable
  }

  /** @returns the body of a request, and a click of it */
  next(count: number): { body: string; last: { accountId: string; id: string; sentMs: number } } {
    const lines = Array.from({ length: count }, () => this.#line())
    return { body: `${lines.join('\n')}\n`, last: { ...this.#lastClick, sentMs: performance.now() } }
  }

  #line(): string {
    this.#number += 1
    if (Math.random() < this.#repeated && this.#sent.length > 0)
      return this.#sent[Math.floor(Math.random() * this.#sent.length)] ?? ''
    const line = JSON.stringify(this.#row())
    this.#sent[this.#number % this.#repeatable] = line
    return line
  }

  #row(): object {
    const [change] = this.#changes
    if (change && change.atMs < performance.now()) {
      this.#changes.shift()
      return { ...change.row, status: 'approved', updatedAt: new Date().toISOString() }
    }
    const now = new Date().toISOString()
    if (Math.random() < conversionShare) {
      const { accountId, id } = this.#lastClick
      const conversion = {
        accountId,
        resource: 'conversions',
        id: `sale-${randomUUID()}`,
        clickId: id,
        convertedAt: now,
      }
      const row = { ...conversion, status: 'pending', revenue: 12.5, currency: 'USD' }
      if (Math.random() < 1 / 3) this.#changes.push({ atMs: performance.now() + changeAfterMs, row })
      return row
    }
    this.clicks += 1
    const accountId = `${feedPrefix}${1 + Math.floor(Math.random() * this.#accounts)}`
    const id = randomUUID()
    this.#lastClick = { accountId, id }
    return { accountId, resource: 'clicks', ...clickOf(this.#number, 1, 0), id, clickedAt: now }
  }
}

/** Sends bodies, each on a connection of its own while it waits for the results. */
export class Sender {
  sent = 0
  retries = 0
  readonly results: Record<string, number> = {}
  /** From the first sending of a body to its results. */
  readonly timesMs: number[] = []
  readonly #url: string
  readonly #token: string
  readonly #agent = new Agent({ keepAlive: true })
  readonly #running = new Set<Promise<void>>()
  #waiting = 0

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  /** The feed takes 100,000 rows. */
  async hasRoom(): Promise<void> {
    while (this.#waiting > 90_000) await sleep(5)
  }

  async ended(): Promise<void> {
    await Promise.all(this.#running)
    this.#agent.destroy()
  }

  async send(body: string, rows: number, isMeasured: boolean): Promise<void> {
    this.sent += rows
    this.#waiting += rows
    const sending = this.#send(body, isMeasured).finally(() => {
      this.#waiting -= rows
      this.#running.delete(sending)
    })
    this.#running.add(sending)
    await sending
  }

  async #send(body: string, isMeasured: boolean): Promise<void> {
    const sentMs = performance.now()
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/x-ndjson' }
    for (;;) {
      const sent = request(`${this.#url}/rows`, { agent: this.#agent, method: 'POST', headers }).end(body)
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      const content = await text(response)
      if (response.statusCode === 503) {
        this.retries += 1
        await sleep(1_000)
        continue
      }
      if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${content}`)
      if (isMeasured) this.timesMs.push(performance.now() - sentMs)
      for (const [, result = ''] of content.matchAll(/"result":"(\w+)"/g))
        this.results[result] = (this.results[result] ?? 0) + 1
      return
    }
  }
}

/** Waits until sent clicks are visible. */
export class Probes {
  /** From the sending of a click to the response of the first query that returned it. */
  readonly timesMs: number[] = []
  readonly #stores: BenchStores
  readonly #sent = new Map<string, { accountId: string; sentMs: number }>()

  constructor(stores: BenchStores) {
    this.#stores = stores
  }

  add({ id, ...click }: { accountId: string; id: string; sentMs: number }): void {
    this.#sent.set(id, click)
  }

  async look(): Promise<void> {
    if (this.#sent.size === 0) return
    const accounts = [...new Set(Array.from(this.#sent.values(), ({ accountId }) => accountId))]
    // The sort key finds few rows; look-ups by id would take more CPU time than the feed.
    const query = `
      SELECT id FROM clicks
      WHERE account_id IN {accounts:Array(String)} AND clicked_at >= now() - 120 AND id IN {ids:Array(String)}`
    for (const { id } of await select<{ id: string }>(this.#stores, query, { accounts, ids: [...this.#sent.keys()] })) {
      const click = this.#sent.get(id)
      if (click) this.timesMs.push(performance.now() - click.sentMs)
      this.#sent.delete(id)
    }
  }

  async ended(): Promise<void> {
    while (this.#sent.size > 0) await sleep(probeMs)
  }
}
