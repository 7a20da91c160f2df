import { type Agent, request } from 'node:http'

/** A server that a load asks. */
export interface Target {
  port: number
  /** Whether it is out of order on purpose right now: connections to it may break. */
  isDown(): boolean
}

export interface Question {
  method: 'GET' | 'POST'
  path: string
  key: string
  body?: string
}

export interface Answer {
  status: number
  body: string
  retryAfter: string | undefined
}

/** A caller that has no answer after this long gives up. */
const answerPatienceMs = 45_000

/** Asks over a connection of the agent. @returns undefined when the connection broke, before the answer or within it */
export function ask(
  agent: Agent,
  { port }: Target,
  { method, path, key, body }: Question,
  patienceMs = answerPatienceMs,
): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const headers = {
      authorization: `ApiKey ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    const sent = request({ agent, port, method, path, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => {
        text += chunk
      })
      answer.on('error', () => resolve(undefined))
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, body: text, retryAfter: answer.headers['retry-after'] })
      })
    })
    const timer = setTimeout(() => sent.destroy(), patienceMs)
    sent.on('close', () => clearTimeout(timer))
    sent.on('error', () => resolve(undefined))
    sent.end(body)
  })
}
