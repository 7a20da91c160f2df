import { Agent, get } from 'node:http'

/** How long something took, over many times; milliseconds. */
export interface Times {
  requests: number
  perSecond: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
}

/** A caller with connections of its own, which are kept. */
export interface Caller {
  /** GETs an address. @throws Error when the answer is not 200 */
  get(url: string): Promise<string>
  close(): void
}

export function openCaller(key: string, connections: number): Caller {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const headers = { authorization: `ApiKey ${key}` }
  return {
    get: (url) =>
      new Promise((resolve, reject) => {
        get(url, { agent, headers }, (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => chunks.push(chunk))
          answer.on('end', () => {
            const body = Buffer.concat(chunks).toString()
            if (answer.statusCode === 200) resolve(body)
            else reject(new Error(`${url}: ${answer.statusCode} ${body}`))
          })
        }).on('error', reject)
      }),
    close: () => agent.destroy(),
  }
}

/**
 * Asks again and again, so many at a time, until each question has been asked so often.
 * @param ask is given the number of the request
 */
export async function time(
  ask: (number: number) => Promise<unknown>,
  { requests, connections }: { requests: number; connections: number },
): Promise<Times> {
  const tookMs: number[] = []
  let next = 0
  const startedMs = performance.now()
  const worker = async () => {
    while (next < requests) {
      const number = next++
      const beganMs = performance.now()
      await ask(number)
      tookMs.push(performance.now() - beganMs)
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const allMs = performance.now() - startedMs
  tookMs.sort((a, b) => a - b)
  const quantile = (part: number) => rounded(tookMs[Math.min(tookMs.length - 1, Math.floor(part * tookMs.length))] ?? 0)
  return {
    requests,
    perSecond: rounded((requests / allMs) * 1000),
    p50Ms: quantile(0.5),
    p95Ms: quantile(0.95),
    p99Ms: quantile(0.99),
  }
}

/** @returns a figure with the three digits that mean something */
export function rounded(value: number): number {
  return Number(value.toPrecision(3))
}
