import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../problem.ts'
import type { Settings } from '../../settings/settings.ts'
import { docsPrefix } from '../accessControl.ts'
import type { App } from '../context.ts'
import { pageCsp } from '../securityHeaders.ts'
import {
  addStaticContent,
  type Content,
  openStaticContent,
  openStaticFile,
  type StaticContent,
} from '../staticContent.ts'
import type { RawQuery } from '../validation.ts'
import { addOpenApi } from './addOpenApi.ts'
import { markdownPages } from './markdownPages.ts'
import { type OpenApiDocument, onlyJson } from './openapiDocument.ts'

/** The reference sets styles in elements and attributes. */
const policy = pageCsp("'unsafe-inline'")

/**
 * Adds the documentation of the routes that are registered later: the page at /api/v1/docs, the OpenAPI document as JSON
 * and YAML, its guides and operations as pages of Markdown, and the list of these pages, llms.txt, also at /llms.txt. With
 * `?formats=json` the JSON has no export formats, for generators of clients. All are public. `GET /` redirects to the page.
 */
export async function addDocs(app: App, settings: Settings): Promise<void> {
  await addOpenApi(app, () => publicUrlOf(app, settings))
  const openText = (make: () => string, type: string) =>
    openStaticContent((): Content => ({ body: Buffer.from(make()), type: `${type}; charset=utf-8` }))
  const document = () => app.swagger() as unknown as OpenApiDocument
  const llms = openText(() => markdownPages(document()).get('llms.txt') ?? '', 'text/plain')
  const inFull = openText(() => JSON.stringify(document()), 'application/json')
  const withoutExports = openText(() => JSON.stringify(onlyJson(document())), 'application/json')
  const json: StaticContent = (request, reply) => {
    const [formats] = (request.query as RawQuery).formats ?? []
    return (formats === 'json' ? withoutExports : inFull)(request, reply)
  }
  let pages: ReadonlyMap<string, StaticContent> | undefined
  const page: StaticContent = async (request, reply) => {
    pages ??= new Map(
      [...markdownPages(document())].map(([name, text]) => [name, openText(() => text, 'text/markdown')]),
    )
    const found = pages.get((request.params as { page: string }).page)
    if (!found) throw new Problem('not_found', 'No such page; see llms.txt for the list of pages.')
    return found(request, reply)
  }
  /** @param target relative, for proxies that serve the API below a path of their own */
  const redirectTo = (target: string) => async (_request: FastifyRequest, reply: FastifyReply) => reply.redirect(target)
  const files = `${docsPrefix}/page`
  addStaticContent(app, policy, {
    [docsPrefix]: openStaticFile('dist/docs/page/page.html', 'text/html; charset=utf-8'),
    [`${docsPrefix}/json`]: json,
    [`${docsPrefix}/yaml`]: openText(() => app.swagger({ yaml: true }), 'application/yaml'),
    '/llms.txt': llms,
    [`${docsPrefix}/llms.txt`]: llms,
    [`${docsPrefix}/:page`]: page,
    // Files that the page loads; `npm run build` copies them from `page/`, and the script of Scalar from its package.
    [`${files}/favicon.svg`]: openStaticFile('dist/docs/page/favicon.svg', 'image/svg+xml'),
    [`${files}/page.css`]: openStaticFile('dist/docs/page/page.css', 'text/css; charset=utf-8'),
    [`${files}/scalar.js`]: openStaticFile('dist/docs/page/scalar.js', 'application/javascript; charset=utf-8'),
    [`${files}/storage.js`]: openStaticFile('dist/explore/storage.js', 'text/javascript; charset=utf-8'),
    [`${files}/page.js`]: openStaticFile('dist/docs/page/page.js', 'text/javascript; charset=utf-8'),
    '/': redirectTo(docsPrefix.slice(1)),
    [`${docsPrefix}/`]: redirectTo('../docs'),
  })
}

/**
 * Address under which clients reach the server, without a slash at the end: PUBLIC_URL, else the address that it listens
 * on. Never taken from a request, because any client can send any `Host` header.
 */
function publicUrlOf(app: App, { PUBLIC_URL, HOST, PORT }: Settings): string {
  if (PUBLIC_URL !== undefined) return PUBLIC_URL
  const address = app.server.address()
  const port = typeof address === 'object' && address ? address.port : PORT
  // A wildcard address can be listened on, but not connected to.
  if (HOST === '0.0.0.0' || HOST === '::') return `http://localhost:${port}`
  return `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${port}`
}
