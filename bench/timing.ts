import { Agent, get } from 'node:http'

/** Durations of many requests, milliseconds. */
export interface Times {
  requests: number
  perSecond: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
}

/** An HTTP client with its own keep-alive connections. */
export interface HttpClient {
  /** Sends a GET request. @throws Error when the status is not 200 */
  get(url: string): Promise<string>
  close(): void
}

export function openClient(key: string, connections: number): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const headers = { authorization: `ApiKey ${key}` }
  return {
    get: (url) =>
      new Promise((resolve, reject) => {
        get(url, { agent, headers }, (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('end', () => {
            const body = Buffer.concat(chunks).toString()
            if (response.statusCode === 200) resolve(body)
            else reject(new Error(`${url}: ${response.statusCode} ${body}`))
          })
        }).on('error', reject)
      }),
    close: () => agent.destroy(),
  }
}

/**
 * Sends `requests` requests, `connections` at a time, and measures their durations.
 * @param send gets the number of the request
 */
export async function time(
  send: (number: number) => Promise<unknown>,
  { requests, connections }: { requests: number; connections: number },
): Promise<Times> {
  const durationsMs: number[] = []
  let next = 0
  const startedMs = performance.now()
  const worker = async () => {
    while (next < requests) {
      const number = next++
      const sentMs = performance.now()
      await send(number)
      durationsMs.push(performance.now() - sentMs)
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const allMs = performance.now() - startedMs
  durationsMs.sort((a, b) => a - b)
  const quantile = (part: number) =>
    rounded(durationsMs[Math.min(durationsMs.length - 1, Math.floor(part * durationsMs.length))] ?? 0)
  return {
    requests,
    perSecond: rounded((requests / allMs) * 1000),
    p50Ms: quantile(0.5),
    p95Ms: quantile(0.95),
    p99Ms: quantile(0.99),
  }
}

/** @returns the value with three significant digits */
export function rounded(value: number): number {
  return Number(value.toPrecision(3))
}
