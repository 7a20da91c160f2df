import type { Settings } from '../../settings.ts'
import { docsPrefix } from '../accessControl.ts'
import type { App } from '../context.ts'
import { pageCsp } from '../securityHeaders.ts'
import {
  addStaticContent,
  type Content,
  openPage,
  openStaticContent,
  placeBelow,
  type StaticContent,
} from '../staticContent.ts'
import type { RawQuery } from '../validation.ts'
import { addOpenApi } from './addOpenApi.ts'
import { llmsText } from './llmsText.ts'
import { type OpenApiDocument, onlyJson } from './openapiDocument.ts'
import { pageFiles } from './pageFiles.ts'

/** The reference sets styles in elements and attributes. */
const policy = pageCsp("'unsafe-inline'")

/**
 * Adds the documentation of the routes that are registered later: the page at /api/v1/docs, the OpenAPI document as JSON
 * and YAML, and its text for language models, also at /llms.txt. With `?formats=json` the JSON has no export formats, for generators of
 * clients. All are public. `GET /` redirects to the page.
 */
export async function addDocs(app: App, settings: Settings): Promise<void> {
  await addOpenApi(app, () => publicUrlOf(app, settings))
  const openText = (make: () => string, type: string) =>
    openStaticContent((): Content => ({ body: Buffer.from(make()), type: `${type}; charset=utf-8` }))
  const document = () => app.swagger() as unknown as OpenApiDocument
  const llms = openText(() => llmsText(document()), 'text/plain')
  const inFull = openText(() => JSON.stringify(document()), 'application/json')
  const withoutExports = openText(() => JSON.stringify(onlyJson(document())), 'application/json')
  const json: Pick<StaticContent, 'send'> = {
    send(request, reply) {
      const [formats] = (request.query as RawQuery).formats ?? []
      return (formats === 'json' ? withoutExports : inFull).send(request, reply)
    },
  }
  /** @param target relative, for proxies that serve the API below a path of their own */
  const redirectTo = (target: string): Pick<StaticContent, 'send'> => ({
    send: async (_request, reply) => reply.redirect(target),
  })
  addStaticContent(app, policy, {
    [docsPrefix]: openPage('dist/docs/page/page.html', placeBelow('docs/page', pageFiles)),
    [`${docsPrefix}/json`]: json,
    [`${docsPrefix}/yaml`]: openText(() => app.swagger({ yaml: true }), 'application/yaml'),
    '/llms.txt': llms,
    [`${docsPrefix}/llms.txt`]: llms,
    ...placeBelow(`${docsPrefix}/page`, pageFiles),
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
  return `http://${connectableHost(HOST)}:${port}`
}

/** A wildcard address can be listened on, but not connected to. */
function connectableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
