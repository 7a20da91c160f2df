import Fastify from 'fastify'
import { type Content, fileContent, openStaticContent, type StaticContent } from '../staticContent.ts'

/** Files that the documentation page loads, by name, in the order of the page. */
export const pageFiles: Readonly<Record<string, StaticContent>> = {
  'favicon.svg': openStaticContent(() => readOwn('favicon.svg', 'image/svg+xml')),
  'page.css': openStaticContent(() => readOwn('page.css', 'text/css; charset=utf-8')),
  'scalar.js': openStaticContent(readScalar),
  'page.js': openStaticContent(() => readOwn('page.js', 'text/javascript; charset=utf-8')),
}

function readOwn(name: string, type: string): Promise<Content> {
  return fileContent(`src/http/docs/page/${name}`, type)
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
