import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { packageRoot } from '../package.ts'
import { type Coding, chooseEncoding, codings, encoders } from './contentCoding.ts'
import type { App } from './context.ts'
import { etagOf, matchesEtag } from './etag.ts'

export type Content = { body: Buffer; type: string }

/** Handler of a path. */
export type StaticContent = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/**
 * Opens the constant content of a path, created and compressed at the first request, then cached. Clients keep it, and ask at each use
 * whether it has changed.
 */
export function openStaticContent(make: () => Content | Promise<Content>): StaticContent {
  const content = once(async () => {
    const made = await make()
    return { ...made, etag: etagOf(createHash('sha256').update(made.body)) }
  })
  const encoded = Object.fromEntries(
    codings.map((coding) => [coding, once(async () => encoders[coding]((await content()).body))]),
  ) as Record<Coding, () => Promise<Buffer>>
  return async (request, reply) => {
    const { type, etag, body } = await content()
    reply.headers({ 'cache-control': 'public, no-cache', etag, vary: 'accept-encoding' })
    if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
    const coding = chooseEncoding(request.headers['accept-encoding'], codings)
    reply.header('content-type', type)
    if (coding) reply.header('content-encoding', coding)
    return reply.send(coding ? await encoded[coding]() : body)
  }
}

/** @param path file of the package, relative to its root */
export function openStaticFile(path: string, type: string): StaticContent {
  return openStaticContent(async () => ({ body: await readFile(join(packageRoot, path)), type }))
}

/** Adds public paths with a content security policy. */
export function addStaticContent(app: App, policy: string, contents: Readonly<Record<string, StaticContent>>): void {
  for (const [path, send] of Object.entries(contents)) {
    app.get(path, { schema: { hide: true } }, (request, reply) =>
      send(request, reply.header('content-security-policy', policy)),
    )
  }
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
