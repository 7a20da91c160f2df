import type { PutObjectCommandInput, S3ServiceException } from '@aws-sdk/client-s3'
import { readText } from 'tributary-client'
import { explainMissing, SyncError, TemporaryError } from '../source/errors.ts'

/** The objects below a prefix of a bucket. An error of a request is one sentence: a SyncError, or the reason of the signal. */
export type Objects = Awaited<ReturnType<typeof openObjects>>

/**
 * Opens a prefix of a bucket, with the credentials and the region of `AWS_*`.
 * @param target `s3://bucket/prefix`
 * @param endpoint of a store other than Amazon S3
 * @throws SyncError when the client of S3 is not installed
 */
export async function openObjects(target: string, endpoint: string | undefined, signal: AbortSignal) {
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

  const options = { abortSignal: signal }

  return {
    name,
    /** Reads an object, and its age on the clock of the store. @returns undefined if there is none */
    async read(path: string, given: { abortSignal?: AbortSignal } = options) {
      const object = await send(s3.getObject(objectOf(path), given))
      if (!object) return undefined
      const text = await readText(new Response(object.Body?.transformToWebStream() ?? null))
      return { text, etag: object.ETag, ageMs: storeMs - Number(object.LastModified) }
    },
    /** @returns the ETag of an object; undefined if there is none */
    etagOf: async (path: string) => (await send(s3.headObject(objectOf(path), options)))?.ETag,
    put: async (path: string, input: Partial<PutObjectCommandInput>) =>
      (await send(s3.putObject({ ...objectOf(path), ...input }, options)))?.ETag,
    /** Writes an object if a condition holds. Read it to know whether it was written. */
    async putIf(path: string, Body: string, condition: { IfMatch: string | undefined } | { IfNoneMatch: '*' }) {
      await s3.putObject({ ...objectOf(path), Body, ...condition }, options).catch((error) => {
        // Another writer was first; or the client has repeated a request whose response was lost.
        if (![409, 412].includes(error.$metadata?.httpStatusCode)) throw explained(error)
      })
    },
    remove: (path: string, given: { abortSignal?: AbortSignal } = options) =>
      send(s3.deleteObject(objectOf(path), given)),
    close: () => s3.destroy(),
  }

  /** @returns the response; undefined if there is no such object */
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
