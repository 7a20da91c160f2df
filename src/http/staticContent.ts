import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { packageRoot } from '../package.ts'
import { type Coding, chooseEncoding, codings, encoders } from './contentCoding.ts'
import type { App } from './context.ts'
import { etagOf, matchesEtag } from './etag.ts'

export type Content = { body: Buffer; type: string }

export type StaticContent = ReturnType<typeof openStaticContent>

/** Opens the constant content of a path, created and compressed at the first request, then cached. */
export function openStaticContent(make: () => Content | Promise<Content>) {
  const content = once(async () => {
    const made = await make()
    return { ...made, etag: etagOf(createHash('sha256').update(made.body)) }
  })
  const encoded = Object.fromEntries(
    codings.map((coding) => [coding, once(async () => encoders[coding]((await content()).body))]),
  ) as Record<Coding, () => Promise<Buffer>>
  /** Changes with the content. */
  const version = async () => (await content()).etag.replace(/\W/g, '').slice(1, 13)

  /** Handler of the path; with the current version in the query, `?v=`, clients may cache the response for ever. */
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
export function openStaticFile(path: string, type: string): StaticContent {
  return openStaticContent(async () => ({ body: await readFile(join(packageRoot, path)), type }))
}

/**
 * A page in HTML that names its files as `{{address}}`. Addresses are relative, so that a proxy may serve the page below a
 * path of its own; each gets its version, so that clients may cache the file for ever.
 * @param files by address
 */
export function openPage(path: string, files: Readonly<Record<string, StaticContent>>): StaticContent {
  return openStaticContent(async () => {
    let html = await readFile(join(packageRoot, path), 'utf8')
    for (const [address, file] of Object.entries(files)) {
      if (html.includes(`{{${address}}}`)) {
        html = html.replaceAll(`{{${address}}}`, `${address}?v=${await file.version()}`)
      }
    }
    return { body: Buffer.from(html), type: 'text/html; charset=utf-8' }
  })
}

/** @returns the files by address, which is their name below a folder */
export function placeBelow(folder: string, files: Readonly<Record<string, StaticContent>>) {
  return Object.fromEntries(Object.entries(files).map(([name, file]) => [`${folder}/${name}`, file]))
}

/** Adds public paths with a content security policy. */
export function addStaticContent(
  app: App,
  policy: string,
  contents: Readonly<Record<string, Pick<StaticContent, 'send'>>>,
): void {
  for (const [path, { send }] of Object.entries(contents)) {
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
