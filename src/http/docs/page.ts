import { type Content, type StaticContent, versionedAddress } from '../staticContent.ts'

/**
 * The documentation page. Its addresses are relative, so that a proxy may serve it below a path of its own.
 * @param folder folder of the files, relative to the page
 */
export async function renderPage(files: Readonly<Record<string, StaticContent>>, folder: string): Promise<Content> {
  const address = (name: string) => versionedAddress(folder, name, files)
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Tributary API</title>
<meta name="description" content="Reference of the Tributary API: clicks, conversions, stats, reports and events.">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" type="image/svg+xml" href="${await address('favicon.svg')}">
<link rel="stylesheet" href="${await address('page.css')}">
<script defer src="${await address('scalar.js')}"></script>
<script type="module" src="${await address('page.js')}"></script>
</head>
<body>
<header class="bar">
<a class="bar-title" href="#"><img src="${await address('favicon.svg')}" alt="" width="24" height="24">Tributary API</a>
<form id="key-form" class="bar-key" autocomplete="off">
<label for="key">API key</label>
<input id="key" name="key" type="password" placeholder="API key: trb_live_…" spellcheck="false" autocomplete="off" required>
<button type="submit">Use key</button>
<output id="key-status" for="key" role="status"></output>
</form>
</header>
<main id="reference"><p class="loading">Loading the reference … Without JavaScript, read <a href="docs/llms.txt">llms.txt</a>.</p></main>
</body>
</html>
`
  return { body: Buffer.from(html), type: 'text/html; charset=utf-8' }
}
