import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { S3ServiceException } from '@aws-sdk/client-s3'
import { readText } from 'tributary-client'
import { explainMissing, SyncError, TemporaryError } from '../source/errors.ts'
import { type Storage, writeFile } from './storage.ts'

/** Without renewal for so long, a lock ends. Its writer stops relying on it some time before. */
const lockMs = 60_000
const marginMs = 15_000
const renewMs = 15_000

const lockFile = '.tributary-sync-lock'

/**
 * Opens a prefix of a bucket, with the credentials and the region of `AWS_*`. Until it is closed, other writers are refused.
 * @param target `s3://bucket/prefix`
 * @param endpoint of a store other than Amazon S3
 * @throws SyncError; TemporaryError when another writer has the prefix
 */
export async function openBucket(target: string, endpoint: string | undefined, signal: AbortSignal): Promise<Storage> {
  // The client warns of each version of Node.js that it will not support in future.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  const { S3 } = await import('@aws-sdk/client-s3').catch((error) =>
    explainMissing(error, 'The client of S3', '@aws-sdk/client-s3'),
  )
  const [bucket = '', ...folders] = target.slice('s3://'.length).split('/').filter(Boolean)
  const name = `s3://${[bucket, ...folders].join('/')}`
  const objectOf = (path: string) => ({ Bucket: bucket, Key: [...folders, path].join('/') })
  const s3 = new S3({
    region: process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION ?? 'us-east-1',
    followRegionRedirects: true,
    requestHandler: { connectionTimeout: 10_000, socketTimeout: 60_000 },
    // Errors are thrown; it would print some as well.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    ...(endpoint && { endpoint }),
    // Stores other than Amazon S3 may not know buckets as names of hosts, nor checksums behind a body.
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  /** The time of the last response, on the clock of the store. */
  let storeMs = 0
  s3.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      storeMs = Date.parse((result.response as { headers: { date: string } }).headers.date)
      return result
    },
    { step: 'deserialize' },
  )
  const writer = randomUUID()
  /** When the last request that locked was sent. The monotonic clock may stand still while the machine sleeps; the other may be set. */
  let locked: { monotonicMs: number; wallMs: number } | undefined
  const isLocked = () =>
    locked !== undefined &&
    Math.max(performance.now() - locked.monotonicMs, Date.now() - locked.wallMs) < lockMs - marginMs
  /** Settles after the last renewal, and never fails. */
  let renewal: Promise<unknown> = Promise.resolve()
  await renew()
  // A renewal that fails is repeated before the next write.
  const renewing = setInterval(() => void renew().catch(() => {}), renewMs)

  return {
    name,
    /** One PUT, so that an upload that breaks leaves nothing. */
    async replace(path, content, options) {
      const folder = await mkdtemp(join(tmpdir(), 'tributary-sync-'))
      const file = join(folder, 'file')
      try {
        const sha256 = await writeFile(folder, 'file', content, options)
        if (sha256 === undefined) return undefined
        await assertLocked()
        const checksum = { ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64') }
        const body = { Body: createReadStream(file), ContentLength: (await stat(file)).size, ...checksum }
        return (await send(s3.putObject({ ...objectOf(path), ...body }, { abortSignal: signal })))?.ETag
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
    read: async (path) => (await readObject(path))?.text,
    digestOf: async (path) => (await send(s3.headObject(objectOf(path), { abortSignal: signal })))?.ETag,
    async remove(path) {
      await assertLocked()
      await send(s3.deleteObject(objectOf(path), { abortSignal: signal }))
    },
    async close() {
      clearInterval(renewing)
      await renewal
      // The signal has ended the run, not this.
      const found = await readObject(lockFile, {}).catch(() => undefined)
      if (isOwn(found?.text)) await s3.deleteObject(objectOf(lockFile)).catch(() => {})
      s3.destroy()
    },
  }

  /** One after the other. @throws as `lock` */
  function renew(): Promise<void> {
    const next = renewal.then(lock)
    renewal = next.catch(() => {})
    return next
  }

  /**
   * Takes the lock, or renews it. Its age is the difference of two times of the store, so the clocks of writers do not matter.
   * @throws TemporaryError when another writer has it
   */
  async function lock(): Promise<void> {
    const started = { monotonicMs: performance.now(), wallMs: Date.now() }
    const found = await readObject(lockFile)
    const isOver = storeMs - Number(found?.lastModified) >= lockMs
    if (found && !isOwn(found.text) && !isOver) refuse()
    // Each renewal has another text, and so another ETag: another writer that has read the lock before cannot replace it.
    const text = `${writer} ${randomUUID()}`
    const condition = found ? { IfMatch: found.etag } : { IfNoneMatch: '*' }
    await s3.putObject({ ...objectOf(lockFile), Body: text, ...condition }, { abortSignal: signal }).catch((error) => {
      // Another writer was first; or the client has repeated a request whose response was lost.
      if (![409, 412].includes(error.$metadata?.httpStatusCode)) throw explained(error)
    })
    if ((await readObject(lockFile))?.text !== text) refuse()
    locked = started
  }

  function isOwn(text: string | undefined): boolean {
    return text?.split(' ')[0] === writer
  }

  function refuse(): never {
    locked = undefined
    throw new TemporaryError(
      `another tributary-sync writes to ${name}; stop it. The lock of a killed one ends after ${lockMs / 1_000} s.`,
    )
  }

  /** Before each write. @throws as `lock` */
  async function assertLocked(): Promise<void> {
    await renewal
    if (!isLocked()) await renew()
  }

  async function readObject(path: string, options: { abortSignal?: AbortSignal } = { abortSignal: signal }) {
    const object = await send(s3.getObject(objectOf(path), options))
    if (!object) return undefined
    const text = await readText(new Response(object.Body?.transformToWebStream() ?? null))
    return { text, etag: object.ETag, lastModified: object.LastModified }
  }

  /** @returns the response; undefined if there is no such object @throws an error of one sentence */
  async function send<Response>(request: Promise<Response>): Promise<Response | undefined> {
    return await request.catch((error: S3ServiceException) => {
      if (error.name !== 'NoSuchKey' && error.name !== 'NotFound') throw explained(error)
      return undefined
    })
  }

  function explained({ name: code, message, $metadata }: S3ServiceException): Error {
    if (signal.aborted) return signal.reason
    if (code === 'NoSuchBucket') return new SyncError(`the bucket ${bucket} does not exist.`)
    const help = 'check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and their permissions.'
    const isDenied = code === 'CredentialsProviderError' || [401, 403].includes($metadata?.httpStatusCode ?? 0)
    if (isDenied) return new SyncError(`${name} cannot be used: ${message} (${code}); ${help}`)
    return new TemporaryError(`${name}: ${message || 'no connection'} (${code})`)
  }
}
