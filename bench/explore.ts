// Measures how soon the page /explore has all of its numbers, and how soon after a change of the filter, in Chromium over
// loopback, with no response cached. bench/README.md explains options and output.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { scopes } from '../schema/scopes.ts'
import { createKey } from '../src/accounts/keys.ts'
import { packageRoot } from '../src/package.ts'
import { readSettings } from '../src/settings.ts'
import { migrate } from '../src/stores/migrations/migrate.ts'
import { openStores } from '../src/stores/open.ts'
import { startChromium } from '../test/kit/chromium.ts'
import { benchAccount, fillStores } from './data.ts'
import { busyCores, startProgram, stopPrograms } from './processes.ts'
import { describeMachine, provenance, writeResults } from './results.ts'

const { values: options } = parseArgs({
  options: {
    /** Clicks of the account. */
    size: { type: 'string', default: '200000' },
    runs: { type: 'string', default: '9' },
    /** Folder of filled stores, which later runs and bench/reads.ts reuse. */
    folder: { type: 'string', default: join(packageRoot, 'bench/.cache') },
    out: { type: 'string' },
  },
})

const goals = { firstViewMs: 1_000, filterMs: 300 }
const runs = Number(options.runs)

/** Waits until all panels have their numbers. @returns the time since the start of the navigation, milliseconds */
const settledScript = `
  const isLoading = () => !document.querySelector('.panels') || document.querySelector('[aria-busy=true]')
  while (isLoading()) await new Promise(requestAnimationFrame)
  return performance.now()`

const settings = { DATA_DIR: join(options.folder, options.size), PORT: '0', LOG_LEVEL: 'silent', EXPLORE: 'on' }
await mkdir(settings.DATA_DIR, { recursive: true })
const busyBefore = await busyCores()
const stores = await openStores(readSettings(settings), ({ message }) => console.error(message))
let browser: Browser | undefined
try {
  await migrate(stores)
  await fillStores(stores, Number(options.size), console.log)
  const created = await createKey(stores.postgres, { accountId: benchAccount, name: 'bench', scopes, expiresAt: null })
  if (!created) throw new Error(`no account ${benchAccount}`)
  const program = await startProgram(['--import', 'tsx', join(packageRoot, 'bench/readsServer.ts')], {
    ...process.env,
    ...settings,
  })
  const [uncached = ''] = program.line.split(' ')
  browser = await startChromium()
  const version = `Chromium ${browser.version()}`
  const times: Record<Figure, number[]> = { firstViewMs: [], filterMs: [] }
  for (let run = 0; run < runs; run++) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    await page.goto(`${uncached}/explore#key=${created.key}`)
    times.firstViewMs.push(await page.evaluate<number>(`(async () => { ${settledScript} })()`))
    times.filterMs.push(await changeFilter(page, run))
    await page.close()
  }
  const measurements = (Object.keys(goals) as Figure[]).map((figure) => {
    const sorted = times[figure].map(Math.round).toSorted((one, other) => one - other)
    return { figure, p50: sorted[Math.floor(runs / 2)] ?? 0, max: sorted.at(-1) ?? 0, goalMs: goals[figure] }
  })
  console.table(measurements)
  const context = {
    ...provenance(),
    ...{ machine: describeMachine('browser beside the server'), version, runs, busyBefore },
    size: Number(options.size),
  }
  await writeResults(options.out ?? join(packageRoot, `bench/results/explore-${options.size}.ndjson`), {
    context,
    measurements,
  })
} finally {
  await browser?.close()
  await stopPrograms()
  await stores.close()
}

type Figure = keyof typeof goals

/** Filters by a row of the drill-down. @returns the time until all panels have their new numbers, milliseconds */
function changeFilter(page: Page, row: number): Promise<number> {
  return page.evaluate<number>(`(async () => {
    const start = performance.now()
    document.querySelectorAll('.area-drill-down .row')[${row}].click()
    while (!document.querySelector('[aria-busy=true]')) await new Promise(requestAnimationFrame)
    return (await (async () => { ${settledScript} })()) - start
  })()`)
}
