import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { openHttpServer } from './httpServer.ts'

type Request = { method: string; url: string; headers: IncomingHttpHeaders; body: Buffer }

type Store = { run(): Promise<AddressInfo>; close(): Promise<void> }

/** The package has no types. */
const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as new (options: object) => Store

const suffix = '._S3rver_object'

export const s3Credentials = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }

/**
 * Opens a store of objects with an empty bucket `copies`: s3rver, behind a proxy that has what s3rver lacks. A PUT with `If-Match` or
 * `If-None-Match: *` stores its object only under this condition, and an upload that breaks stores nothing.
 */
export async function openS3Server() {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-s3-'))
  const bucket = join(folder, 'copies')
  const options = { directory: folder, configureBuckets: [{ name: 'copies' }], vhostBuckets: false, silent: true }
  const store = new S3rver({ ...options, address: '127.0.0.1', port: 0 })
  const { port } = await store.run()
  let aheadMs = 0

  const send = (method: string, path: string, headers: IncomingHttpHeaders, body?: Buffer) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      request({ host: '127.0.0.1', port, method, path, headers }, resolve).on('error', reject).end(body)
    })

  async function isRefused(path: string, headers: IncomingHttpHeaders): Promise<boolean> {
    if (!headers['if-match'] && !headers['if-none-match']) return false
    const { statusCode, headers: present } = (await send('HEAD', path, {})).resume()
    return headers['if-match'] ? headers['if-match'] !== present.etag : statusCode === 200
  }

  async function answer(outgoing: ServerResponse, { method, url, headers, body }: Request): Promise<void> {
    if (method === 'PUT' && (await isRefused(url, headers))) {
      const message = 'At least one of the pre-conditions you specified did not hold'
      outgoing.writeHead(412).end(`<Error><Code>PreconditionFailed</Code><Message>${message}</Message></Error>`)
      return
    }
    const response = await send(method, url, headers, body)
    for (const name of ['date', 'last-modified']) {
      const time = response.headers[name]
      if (time) response.headers[name] = new Date(Date.parse(`${time}`) + aheadMs).toUTCString()
    }
    outgoing.writeHead(response.statusCode ?? 0, response.headers).end(await buffer(response))
  }

  /** Requests are answered one by one, so that nothing changes between a condition and its write. */
  let answered: Promise<unknown> = Promise.resolve()
  const server = await openHttpServer(async (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    const body = await buffer(incoming).catch(() => undefined)
    if (!body) return
    answered = answered
      .then(() => answer(outgoing, { method, url, headers, body }))
      .catch(() => void outgoing.destroy())
  })
  return {
    ...server,
    setAhead(ms: number) {
      aheadMs = ms
    },
    async age(key: string, ms: number) {
      const time = (Date.now() - ms) / 1_000
      await utimes(join(bucket, key + suffix), time, time)
    },
    createBucket: () => mkdir(bucket),
    removeBucket: () => rm(bucket, { recursive: true, force: true }),
    async keys() {
      const entries = await readdir(bucket, { recursive: true, withFileTypes: true })
      const files = entries.map(({ parentPath, name }) => relative(bucket, join(parentPath, name)))
      return files.filter((file) => file.endsWith(suffix)).map((file) => file.slice(0, -suffix.length))
    },
    async close() {
      await server.close()
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
