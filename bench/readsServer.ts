// The server that bench/reads.ts measures, with the end of the data as present time. It listens twice and prints both URLs:
// first without a response cache, then with the cache of `serve`.

import { buildApp } from '../src/app.ts'
import { openResponseCache } from '../src/http/responseCache.ts'
import { readSettings } from '../src/settings/settings.ts'
import { openStores } from '../src/stores/open.ts'
import { benchNowMs } from './data.ts'

const settings = readSettings(process.env)
const stores = await openStores(settings, ({ message }) => console.error(message))
const startedMs = Date.now()
const now = () => benchNowMs + Date.now() - startedMs
const apps = await Promise.all(
  [openResponseCache({ ttlMs: 0 }), openResponseCache()].map((responseCache) =>
    buildApp({ settings, stores, responseCache, now }),
  ),
)
const urls = await Promise.all(apps.map((app) => app.listen({ host: '127.0.0.1', port: 0 })))
console.log(urls.join(' '))

process.stdin.once('end', async () => {
  await Promise.all(apps.map((app) => app.close()))
  await stores.close()
})
process.stdin.resume()
