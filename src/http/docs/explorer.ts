import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import Fastify from 'fastify'
import type { StaticContent } from '../staticContent.ts'
import { favicon, style } from './theme.ts'

/** The explorer needs its own files and nothing from elsewhere; everything else is refused. */
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

/** The page and everything that it loads, below its own address. */
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
 * Makes the explorer: a server of its own is asked once for each path, since the package opens a file for every request.
 * @param prefix the address of the page
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
      // Without the bar on top: it lets people load documents from elsewhere, and styles itself inline.
      layout: 'BaseLayout',
      deepLinking: true,
      docExpansion: 'list',
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      tryItOutEnabled: true,
      requestInterceptor: nameScheme,
      responseInterceptor: nameServer,
    },
  })
  const contents = explorerPaths.map(async (path) => {
    const answer = await model.inject(prefix + path)
    if (answer.statusCode !== 200) throw new Error(`${prefix}${path} of the explorer is ${answer.statusCode}.`)
    return [path, { body: answer.rawPayload, type: `${answer.headers['content-type']}` }] as const
  })
  const explorer = Object.fromEntries(await Promise.all(contents)) as Record<ExplorerPath, StaticContent>
  await model.close()
  return explorer
}

/** Runs in the reader's browser: people paste the bare key. TRAP: its source is sent there, so it may use nothing around it. */
function nameScheme<BrowserRequest>(request: BrowserRequest): BrowserRequest {
  const { headers } = request as { headers: Record<string, string> }
  const given = headers.Authorization
  if (given && !/^ApiKey /i.test(given)) headers.Authorization = `ApiKey ${given.trim()}`
  return request
}

/** Runs in the reader's browser, like `nameScheme`: the calls of the introduction are to be pasted, so they name this server. */
function nameServer<BrowserResponse>(response: BrowserResponse): BrowserResponse {
  const document = response as { url: string; text: string }
  const { location } = globalThis as unknown as { location: { origin: string } }
  if (document.url.endsWith('/docs/json')) {
    document.text = document.text.replaceAll('http://127.0.0.1:3000', location.origin)
  }
  return response
}
