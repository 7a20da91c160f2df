import Fastify from 'fastify'
import { type Content, openFile, openStaticContent, type StaticContent } from '../staticContent.ts'

/** Files that the documentation page loads, by name. `npm run build` copies them from `page/`. */
export const pageFiles: Readonly<Record<string, StaticContent>> = {
  'favicon.svg': openFile('dist/docs/page/favicon.svg', 'image/svg+xml'),
  'page.css': openFile('dist/docs/page/page.css', 'text/css; charset=utf-8'),
  'scalar.js': openStaticContent(readScalar),
  'page.js': openFile('dist/docs/page/page.js', 'text/javascript; charset=utf-8'),
}

/** The script of Scalar. A Fastify instance of its own serves it once; the package is loaded by the first reader. */
async function readScalar(): Promise<Content> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const model = Fastify()
  await model.register(scalar, { routePrefix: '/', configuration: { url: '/' } })
  const { statusCode, headers, rawPayload } = await model.inject('/js/scalar.js')
  await model.close()
  if (statusCode !== 200) throw new Error(`The script of Scalar has the status ${statusCode}.`)
  return { body: rawPayload, type: `${headers['content-type']}` }
}
