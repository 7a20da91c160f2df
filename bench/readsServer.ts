// What bench/reads.ts asks: the server as it runs, at the moment that the data ends. It listens twice, and prints both
// addresses: where no answer is kept, and where stats and reports are kept for a moment as `serve` does.

import { buildApp } from '../src/app.ts'
import { openResponseCache } from '../src/http/responseCache.ts'
import { readSettings } from '../src/settings.ts'
import { openStores } from '../src/stores/open.ts'
import { benchNowMs } from './data.ts'

const settings = readSettings(process.env)
const stores = await openStores(settings, ({ message }) => console.error(message))
const startedMs = Date.now()
const now = () => benchNowMs + Date.now() - startedMs
const apps = await Promise.all(
  [openResponseCache({ ttlMs: 0 }), openResponseCache()].map((answers) =>
    buildApp({ settings, stores, responseCache: answers, now }),
  ),
)
const urls = await Promise.all(apps.map((app) => app.listen({ host: '127.0.0.1', port: 0 })))
console.log(urls.join(' '))

process.stdin.once('end', async () => {
  await Promise.all(apps.map((app) => app.close()))
  await stores.close()
})
process.stdin.resume()
