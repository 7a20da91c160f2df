import type { Settings } from '../../settings.ts'
import { docsPrefix } from '../accessControl.ts'
import type { App } from '../context.ts'
import { pageCsp } from '../pageCsp.ts'
import { type Content, openStaticContent } from '../staticContent.ts'
import { llmsText } from './llmsText.ts'
import { addOpenApi } from './openapi.ts'
import type { OpenApiDocument } from './openapiDocument.ts'
import { renderPage } from './page.ts'
import { pageFiles } from './pageFiles.ts'
import { publicUrlOf } from './publicUrl.ts'

/**
 * Adds the documentation of the routes that are registered later: the page at /api/v1/docs, the OpenAPI document as JSON
 * and YAML, and its text for language models, also at /llms.txt. All are public. `GET /` redirects to the page.
 */
export async function addDocs(app: App, settings: Settings): Promise<void> {
  await addOpenApi(app, () => publicUrlOf(app, settings))
  await app.register(async (docs) => {
    const add = (path: string, make: () => Content | Promise<Content>) => addContent(path, openStaticContent(make))
    const addContent = (path: string, { send }: ReturnType<typeof openStaticContent>) =>
      docs.get(path, { schema: { hide: true } }, send)
    docs.addHook('onRequest', (_request, reply, done) => {
      // The reference sets styles in elements and attributes.
      reply.header('content-security-policy', pageCsp("'unsafe-inline'"))
      done()
    })
    add(docsPrefix, () => renderPage(pageFiles, 'docs/page'))
    add(`${docsPrefix}/json`, () => textContent(JSON.stringify(app.swagger()), 'application/json'))
    add(`${docsPrefix}/yaml`, () => textContent(app.swagger({ yaml: true }), 'application/yaml'))
    for (const path of ['/llms.txt', `${docsPrefix}/llms.txt`]) {
      add(path, () => textContent(llmsText(app.swagger() as unknown as OpenApiDocument), 'text/plain'))
    }
    for (const [name, file] of Object.entries(pageFiles)) addContent(`${docsPrefix}/page/${name}`, file)
    redirect('/', docsPrefix.slice(1))
    redirect(`${docsPrefix}/`, '../docs')

    /** @param target relative to the path, for proxies that serve the API below a path of their own */
    function redirect(path: string, target: string): void {
      docs.get(path, { schema: { hide: true } }, (_request, reply) => reply.redirect(target))
    }
  })
}

function textContent(text: string, type: string): Content {
  return { body: Buffer.from(text), type: `${type}; charset=utf-8` }
}
