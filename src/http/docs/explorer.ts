import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import Fastify from 'fastify'
import type { StaticContent } from '../staticContent.ts'
import { favicon, style } from './theme.ts'

/** The explorer loads its own files only. */
export const explorerCsp = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Paths of the page and of the files that it loads, relative to the page. */
export const explorerPaths = [
  '',
  '/static/swagger-ui.css',
  '/static/index.css',
  '/static/swagger-ui-bundle.js',
  '/static/swagger-ui-standalone-preset.js',
  '/static/swagger-initializer.js',
  '/static/theme/look.css',
  '/static/theme/favicon.svg',
] as const
export type ExplorerPath = (typeof explorerPaths)[number]

/**
 * Renders the files of the explorer. A separate Fastify instance serves each path once, because the package opens a file
 * for every request.
 * @param prefix path of the page
 */
export async function makeExplorer(prefix: string): Promise<Record<ExplorerPath, StaticContent>> {
  const model = Fastify()
  await model.register(swagger)
  await model.register(swaggerUi, {
    routePrefix: prefix,
    theme: {
      title: 'Tributary API',
      css: [{ filename: 'look.css', content: style }],
      favicon: [{ filename: 'favicon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: favicon }],
    },
    uiConfig: {
      // No top bar: it can load documents from other hosts and needs inline styles.
      layout: 'BaseLayout',
      deepLinking: true,
      docExpansion: 'list',
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      tryItOutEnabled: true,
      requestInterceptor: addScheme,
      responseInterceptor: replaceServer,
    },
  })
  const contents = explorerPaths.map(async (path) => {
    const response = await model.inject(prefix + path)
    if (response.statusCode !== 200) throw new Error(`Explorer file ${prefix}${path}: status ${response.statusCode}.`)
    return [path, { body: response.rawPayload, type: `${response.headers['content-type']}` }] as const
  })
  const explorer = Object.fromEntries(await Promise.all(contents)) as Record<ExplorerPath, StaticContent>
  await model.close()
  return explorer
}

/** Runs in the browser; adds the scheme to a pasted key. TRAP: its source text is sent there, so it must not use outer variables. */
function addScheme<BrowserRequest>(request: BrowserRequest): BrowserRequest {
  const { headers } = request as { headers: Record<string, string> }
  const value = headers.Authorization
  if (value && !/^ApiKey /i.test(value)) headers.Authorization = `ApiKey ${value.trim()}`
  return request
}

/** Runs in the browser, as `addScheme`; puts the address of this server into the examples of the introduction. */
function replaceServer<BrowserResponse>(response: BrowserResponse): BrowserResponse {
  const document = response as { url: string; text: string }
  const { location } = globalThis as unknown as { location: { origin: string } }
  if (document.url.endsWith('/docs/json')) {
    document.text = document.text.replaceAll('http://127.0.0.1:3000', location.origin)
  }
  return response
}
