import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { packageRoot } from '../package.ts'
import { chooseEncoding } from './acceptEncoding.ts'
import { type Coding, codings, encode } from './contentCoding.ts'
import { etagOf, matchesEtag } from './etag.ts'

/** A public document, constant for the life of the process. */
export interface Content {
  body: Buffer
  /** The value of `Content-Type`. */
  type: string
}

/** Constant content of a path, created and compressed at the first request, then cached. */
export interface StaticContent {
  /** Handler of the path; with the current version in the query, `?v=`, clients may cache the response for ever. */
  send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>
  /** Changes with the content. */
  version(): Promise<string>
}

export function openStaticContent(make: () => Content | Promise<Content>): StaticContent {
  const content = once(async () => {
    const made = await make()
    return { ...made, etag: etagOf(made.body) }
  })
  const encoded = Object.fromEntries(
    codings.map((coding) => [coding, once(async () => encode(coding, (await content()).body))]),
  ) as Record<Coding, () => Promise<Buffer>>
  const version = async () => (await content()).etag.replace(/\W/g, '').slice(1, 13)

  async function send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { type, etag, body } = await content()
    const isVersioned = (request.query as { v?: string[] }).v?.[0] === (await version())
    reply.header('cache-control', isVersioned ? 'public, max-age=31536000, immutable' : 'public, no-cache')
    reply.header('etag', etag).header('vary', 'accept-encoding')
    if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
    const coding = chooseEncoding(request.headers['accept-encoding'], codings)
    reply.header('content-type', type)
    if (coding) reply.header('content-encoding', coding)
    return reply.send(coding ? await encoded[coding]() : body)
  }

  return { send, version }
}

/** @param path file of the package, relative to its root */
export async function fileContent(path: string, type: string): Promise<Content> {
  return { body: await readFile(join(packageRoot, path)), type }
}

/** The address of a file in a page, with its version: clients may cache the response for ever. */
export async function versionedAddress(
  folder: string,
  name: string,
  files: Readonly<Record<string, StaticContent>>,
): Promise<string> {
  return `${folder}/${name}?v=${await files[name]?.version()}`
}

/** Creates a value at the first call, once for concurrent calls; a failure is not cached. */
function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make().catch((error) => {
      made = undefined
      throw error
    })
    return made
  }
}
