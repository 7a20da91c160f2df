import { get } from 'node:http'
import { openClient, rounded, type Times, time } from './timing.ts'

/** Heavy reports that run at the same time: as many as one account may run (`READS_PER_ACCOUNT`). */
const heavyRunning = 8
/** Reads every click of a year, with millions of groups. */
const heavyPath = '/reports?group_by=sub1,city,referrer_domain&days=365'
const lightPath = '/reports?group_by=country&days=30'

/** A report of one account, read from sums, alone and beside heavy reports of another account. */
export interface Isolation {
  query: string
  connections: number
  alone: Times
  /** Beside the heavy reports. */
  api: Times
  /** Median of `api` relative to `alone`; the goal is 2. */
  ratio: number
  /** Responses to the heavy reports by status; 503 is `query_timeout`. */
  heavyResponses: Record<string, number>
}

/**
 * Measures alone, beside, beside, alone, so that load of other processes is in both.
 * @param keys of the account with the heavy reports and of the other one
 */
export async function measureIsolation(
  url: string,
  keys: { heavy: string; light: string },
  requests: number,
): Promise<Isolation> {
  const client = openClient(keys.light, 1)
  const light = () => client.get(`${url}/api/v1${lightPath}`)
  const load = { requests, connections: 1 }
  await time(light, { requests: 5, connections: 1 })
  const alone = [await time(light, load)]
  const heavy = startHeavy(`${url}/api/v1${heavyPath}`, keys.heavy)
  // All of them have begun to read.
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const api = [await time(light, load), await time(light, load)]
  const heavyResponses = await heavy.stop()
  alone.push(await time(light, load))
  client.close()
  const figures = { alone: averageOf(alone), api: averageOf(api) }
  const ratio = rounded(figures.api.p50Ms / figures.alone.p50Ms)
  return { query: 'country, 30 days, beside 8 heavy reports', connections: 1, ...figures, ratio, heavyResponses }
}

/** Keeps `heavyRunning` requests running until `stop`, which cancels those that have not ended. */
function startHeavy(url: string, key: string): { stop(): Promise<Record<string, number>> } {
  const stopped = new AbortController()
  const statuses: Record<string, number> = {}
  const worker = async () => {
    while (!stopped.signal.aborted) {
      const status = await statusOf(url, key, stopped.signal)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  const workers = Promise.all(Array.from({ length: heavyRunning }, worker))
  return {
    async stop() {
      stopped.abort()
      await workers
      return statuses
    },
  }
}

/** @returns the status, `canceled` if the signal aborts first */
function statusOf(url: string, key: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers: { authorization: `ApiKey ${key}` }, signal, agent: false }, (response) => {
      response.resume()
      response.on('close', () => resolve(signal.aborted ? 'canceled' : `${response.statusCode}`))
      response.on('error', () => {})
    })
    request.on('error', (error) => (signal.aborted ? resolve('canceled') : reject(error)))
  })
}

function averageOf(runs: readonly Times[]): Times {
  const mean = (pick: (run: Times) => number) => rounded(runs.reduce((sum, run) => sum + pick(run), 0) / runs.length)
  return {
    requests: runs.reduce((sum, run) => sum + run.requests, 0),
    perSecond: mean((run) => run.perSecond),
    p50Ms: mean((run) => run.p50Ms),
    p95Ms: mean((run) => run.p95Ms),
    p99Ms: mean((run) => run.p99Ms),
  }
}
