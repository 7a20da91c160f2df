import { execFileSync } from 'node:child_process'

/**
 * Sends requests to one URL with wrk, on 16 connections, each after the last response.
 * @throws Error when wrk is not installed or a status is not 200
 */
export function runWrk(url: string, key: string, seconds = 10): { perSecond: number; p50Ms: number; p99Ms: number } {
  const words = ['-t1', '-c16', `-d${seconds}s`, '--latency', '-H', `authorization: ApiKey ${key}`, url]
  let text: string
  try {
    text = execFileSync('wrk', words, { encoding: 'utf8' })
  } catch {
    throw new Error('This bench needs wrk: apt-get install wrk.')
  }
  if (/Non-2xx|Socket errors/.test(text)) throw new Error(text)
  return {
    perSecond: Math.round(Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1])),
    p50Ms: milliseconds(/50%\s+(\S+)/.exec(text)?.[1] ?? ''),
    p99Ms: milliseconds(/99%\s+(\S+)/.exec(text)?.[1] ?? ''),
  }
}

/** `1.02ms`, `640.00us`, `1.20s`. */
function milliseconds(text: string): number {
  const value = Number.parseFloat(text)
  if (text.endsWith('us')) return value / 1000
  return text.endsWith('ms') ? value : value * 1000
}
