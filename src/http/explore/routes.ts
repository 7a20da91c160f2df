import type { App } from '../context.ts'
import { pageFiles } from '../docs/pageFiles.ts'
import { pageCsp } from '../pageCsp.ts'
import { type Content, fileContent, openStaticContent, type StaticContent, versionedAddress } from '../staticContent.ts'

/** Path of the page. */
export const explorePath = '/explore'

/** Files of the page, which `npm run build` makes from src/explore. */
const bundle: Readonly<Record<string, StaticContent>> = {
  'explore.js': openStaticContent(() => fileContent('dist/explore/explore.js', 'text/javascript; charset=utf-8')),
  'explore.css': openStaticContent(() => fileContent('dist/explore/explore.css', 'text/css; charset=utf-8')),
}

/** Adds the page that shows the numbers of a key, and its files. All are public; the page calls the API with the key. */
export async function addExplore(app: App): Promise<void> {
  await app.register(async (explore) => {
    explore.addHook('onRequest', (_request, reply, done) => {
      reply.header('content-security-policy', pageCsp())
      done()
    })
    const paths = { [explorePath]: openStaticContent(renderPage), ...below(explorePath, bundle) }
    for (const [path, content] of Object.entries(paths)) explore.get(path, { schema: { hide: true } }, content.send)
  })
}

function below<Value>(path: string, values: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${path}/${name}`, value]))
}

/** The addresses of the page are relative, so that a proxy may serve it below a path of its own. */
async function renderPage(): Promise<Content> {
  const [script, style, icon] = await Promise.all([
    versionedAddress('explore', 'explore.js', bundle),
    versionedAddress('explore', 'explore.css', bundle),
    versionedAddress('api/v1/docs/page', 'favicon.svg', pageFiles),
  ])
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Explore · Tributary</title>
<meta name="description" content="Clicks, conversions, revenue and funnels of an account, read with an API key.">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" type="image/svg+xml" href="${icon}">
<link rel="stylesheet" href="${style}">
<script type="module" src="${script}"></script>
</head>
<body>
<div id="explore"><noscript>This page needs JavaScript. Without it, read <a href="llms.txt">llms.txt</a>.</noscript></div>
</body>
</html>
`
  return { body: Buffer.from(html), type: 'text/html; charset=utf-8' }
}
