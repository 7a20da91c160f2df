import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { rejectedMs } from '../../../src/api/events/batchTurns.ts'
import { useTestApp } from '../../kit/app.ts'
import { newAccount } from './send.ts'

const api = useTestApp()
let port: number
const keys: string[] = []
const sockets: Socket[] = []

const event = { click_id: 'click', event_name: 'paid' }
/** A batch of one event above 256 KiB. */
const large = `{"events":[${JSON.stringify(event)}]${' '.repeat(256 * 1024)}}`
const small = JSON.stringify({ events: [event] })

beforeAll(async () => {
  for (let n = 0; n < 4; n++) keys.push((await newAccount(api)).key)
  await api.app.listen({ port: 0 })
  port = (api.app.server.address() as AddressInfo).port
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** A batch on a connection of its own. A part of its body has been sent. */
interface Sending {
  finish(): void
  /** The response; undefined before it has arrived. */
  response: string | undefined
}

function begin(account: number, body = large, { isChunked = false } = {}): Sending {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  sockets.push(socket)
  const encoded = isChunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body
  const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`
  socket.write(
    `POST /api/v1/events/batch HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ApiKey ${keys[account]}\r\nContent-Type: application/json\r\n${length}\r\n\r\n${encoded.slice(0, 20)}`,
  )
  const sending: Sending = { finish: () => void socket.write(encoded.slice(20)), response: undefined }
  text(socket).then(
    (response) => {
      sending.response = response
    },
    () => {},
  )
  return sending
}

/** Begins a large batch, and waits until it has its turn or is queued. */
async function beginOne(account: number, options?: { isChunked: boolean }): Promise<Sending> {
  const sending = begin(account, large, options)
  // The response shows that the server has handled what was sent before.
  await expectStored(sendWhole(account, small))
  return sending
}

function sendWhole(account: number, body: string): Sending {
  const sending = begin(account, body)
  sending.finish()
  return sending
}

/** @returns what the timers of `rejectedMs` call; they never end by themselves, unlike fake timers, which polls advance */
function holdPauses(): (() => void)[] {
  const pauses: (() => void)[] = []
  const { setTimeout: begin } = globalThis
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((callback: () => void, ms?: number) => {
    if (ms === rejectedMs) pauses.push(callback)
    return begin(ms === rejectedMs ? () => {} : callback, ms)
  }) as typeof setTimeout)
  return pauses
}

async function expectStored(sending: Sending): Promise<void> {
  await expect.poll(() => sending.response, { timeout: 10_000 }).toMatch(/^HTTP\/1\.1 200 [\s\S]*"stored":1/)
}

describe('batches above 256 KiB', () => {
  it.each([{ isChunked: false }, { isChunked: true }])(
    'are read one at a time per account and two in total, whatever declares their length: %j',
    async (options) => {
      const first = await beginOne(0, options)
      const second = await beginOne(0, options)
      const ofTwo = await beginOne(1, options)
      const ofThree = await beginOne(2, options)
      second.finish()
      ofThree.finish()
      // Small batches need no turn.
      await expectStored(sendWhole(0, small))
      await expectStored(sendWhole(2, small))
      expect([second.response, ofThree.response]).toEqual([undefined, undefined])
      first.finish()
      await expectStored(first)
      await expectStored(second)
      await expectStored(ofThree)
      ofTwo.finish()
      await expectStored(ofTwo)
    },
  )

  it('of clients that disconnect give their turns to others', async () => {
    for (const account of [0, 0, 1]) await beginOne(account)
    for (const socket of sockets) socket.destroy()
    await expectStored(sendWhole(0, large))
  })

  it('that are rejected keep the turn of their account for a pause, so that they cannot be sent without end', async () => {
    const pauses = holdPauses()
    const rejected = sendWhole(0, large.replace('[', '[['))
    await expect.poll(() => rejected.response).toMatch(/^HTTP\/1\.1 400 /)
    const next = await beginOne(0)
    next.finish()
    await expectStored(sendWhole(0, small))
    expect(next.response).toBeUndefined()
    for (const end of pauses) end()
    await expectStored(next)
  })

  it('that arrive slowly get 503 when another account waits, so that no account keeps a turn', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const slow = [await beginOne(0), await beginOne(1)]
    vi.advanceTimersByTime(5_000)
    await expectStored(sendWhole(3, small))
    expect(slow.map(({ response }) => response)).toEqual([undefined, undefined])
    const waiting = await beginOne(2)
    waiting.finish()
    vi.advanceTimersByTime(5_000)
    vi.useRealTimers()
    await expectStored(waiting)
    const refused = /^HTTP\/1\.1 503 [\s\S]*retry-after: 1[\s\S]*"unavailable"/
    await expect.poll(() => slow.some(({ response }) => response?.match(refused))).toBe(true)
  })
})
