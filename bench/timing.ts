import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage, request } from 'node:http'

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
  return {
    requests,
    perSecond: rounded((requests / allMs) * 1000),
    p50Ms: rounded(quantile(durationsMs, 0.5)),
    p95Ms: rounded(quantile(durationsMs, 0.95)),
    p99Ms: rounded(quantile(durationsMs, 0.99)),
  }
}

/** Result of reading a whole list. */
export interface ListRead {
  seconds: number
  megabytes: number
  /** Undefined where rows do not end with line feeds. */
  rows: number | undefined
}

/**
 * Reads a whole list from the API.
 * @param url with the parameter `format`
 * @throws Error when the status is not 200
 */
export async function readList(url: string, key: string, encoding = 'identity'): Promise<ListRead> {
  const startedMs = performance.now()
  const headers = { authorization: `ApiKey ${key}`, 'accept-encoding': encoding }
  const sent = request(url, { headers }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`)
  return await drain(response, startedMs, url.includes('format=ndjson') && encoding === 'identity')
}

/** Reads a stream to its end; counts line feeds if each ends a row. */
export async function drain(stream: IncomingMessage, startedMs: number, isLines: boolean): Promise<ListRead> {
  let bytes = 0
  let rows = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (isLines) for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) rows += 1
  }
  return { seconds: secondsSince(startedMs), megabytes: bytes / 1e6, rows: isLines ? rows : undefined }
}

/**
 * Sends requests to one URL with wrk, on 16 connections, each after the last response.
 * @throws Error when wrk is not installed or a status is not 200
 */
export function runWrk(url: string, key: string, seconds = 10): Partial<Times> & { perSecond: number } {
  const words = ['-t1', '-c16', `-d${seconds}s`, '--latency', '-H', `authorization: ApiKey ${key}`, url]
  let text: string
  try {
    text = execFileSync('wrk', words, { encoding: 'utf8' })
  } catch {
    throw new Error('This bench needs wrk: apt-get install wrk.')
  }
  if (/Non-2xx|Socket errors/.test(text)) throw new Error(text)
  // wrk prints `1.02ms`, `640.00us` or `1.20s`.
  const msOf = (share: string) => {
    const [, value, unit = ''] = new RegExp(`${share}%\\s+([\\d.]+)(\\w+)`).exec(text) ?? []
    return Number(value) * ({ us: 0.001, ms: 1 }[unit] ?? 1000)
  }
  return {
    perSecond: Math.round(Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1])),
    p50Ms: msOf('50'),
    p99Ms: msOf('99'),
  }
}

export function secondsSince(startedMs: number): number {
  return (performance.now() - startedMs) / 1000
}

/** @returns the value with three significant digits */
export function rounded(value: number): number {
  return Number(value.toPrecision(3))
}

/** @returns the value below which this part of the values is */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
