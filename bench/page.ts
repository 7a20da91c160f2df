// Measures how soon the documentation page is painted, and how soon it shows the reference, in Chromium over loopback: with
// an empty cache, and again in the same tab. bench/README.md explains options and output.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { packageRoot } from '../src/package.ts'
import { startChromium } from '../test/kit/chromium.ts'
import { busyCores, startProgram, stopPrograms, urlOf } from './processes.ts'
import { describeMachine, provenance, writeResults } from './results.ts'

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '9' },
    out: { type: 'string', default: join(packageRoot, 'bench/results/page.ndjson') },
  },
})

const goalMs = 1_500
const runs = Number(options.runs)
const dataDir = await mkdtemp(join(tmpdir(), 'tributary-bench-'))
const busyBefore = await busyCores()
try {
  const program = await startProgram([join(packageRoot, 'dist/src/main.js'), 'serve'], {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'silent',
  })
  const browser = await startChromium()
  const version = `Chromium ${browser.version()}`
  const url = `${urlOf(program)}/api/v1/docs`
  const paints: Record<Cache, Paint[]> = { empty: [], filled: [] }
  for (let run = 0; run < runs; run++) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    paints.empty.push(await paintOf(page, () => page.goto(url)))
    paints.filled.push(await paintOf(page, () => page.reload()))
    await page.close()
  }
  await browser.close()
  const measurements = (['empty', 'filled'] as const).map((cache) => ({
    cache,
    firstContentfulPaintMs: spread(paints[cache].map(({ firstContentfulPaintMs }) => firstContentfulPaintMs)),
    referenceMs: spread(paints[cache].map(({ referenceMs }) => referenceMs)),
  }))
  console.table(
    measurements.map(({ cache, firstContentfulPaintMs: first, referenceMs: reference }) => ({
      cache,
      'first contentful paint, ms': `${first.p50} (${first.max} at most)`,
      'reference shown, ms': `${reference.p50} (${reference.max} at most)`,
      [`paint below ${goalMs} ms`]: first.max < goalMs ? 'yes' : 'missed',
    })),
  )
  const context = { ...provenance(), machine: describeMachine('browser beside the server'), version, runs, busyBefore }
  await writeResults(options.out, { context, measurements })
} finally {
  await stopPrograms()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
}

/** State of the browser's cache. */
type Cache = 'empty' | 'filled'

/** Milliseconds since the start of the navigation. */
interface Paint {
  firstContentfulPaintMs: number
  referenceMs: number
}

async function paintOf(page: Page, navigate: () => Promise<unknown>): Promise<Paint> {
  await navigate()
  await page.getByRole('heading', { name: 'Start', exact: true }).waitFor()
  return await page.evaluate<Paint>(`({
    referenceMs: performance.now(),
    firstContentfulPaintMs: performance.getEntriesByName('first-contentful-paint')[0].startTime,
  })`)
}

function spread(values: number[]): { p50: number; max: number } {
  const sorted = values.map(Math.round).toSorted((a, b) => a - b)
  return { p50: sorted[Math.floor(sorted.length / 2)] ?? 0, max: sorted.at(-1) ?? 0 }
}
