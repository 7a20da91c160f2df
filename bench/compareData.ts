import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Files that both commits import, and the expected numbers of the API. */
export interface CompareData {
  folder: string
  clicks: number
  importRows: number
  /** Midnight UTC after the last click. Clicks are in the 365 days before it. */
  untilMs: number
  /** Clicks that reports count: without bots and tests. */
  countedClicks: number
  approvedConversions: number
}

/** Number of clicks that events refer to: `click-0` to `click-9999`, as in bench/events.lua. */
export const eventClicks = 10_000

const dayMs = 86_400_000
const days = 365
const campaigns = 60
const eventCampaigns = 20
const countries = ['US', 'DE', 'GB', 'FR', 'IN', 'BR', 'ES', 'IT', 'CA', 'AU', 'JP', 'MX', 'NL', 'PL', 'SE', 'AR']
const devices = ['mobile', 'mobile', 'mobile', 'desktop', 'desktop', 'tablet']
const browsers = ['Chrome', 'Chrome', 'Safari', 'Edge', 'Firefox']
const statuses = ['approved', 'approved', 'pending', 'declined', 'refunded']

/**
 * Writes the files, unless the folder contains them; the same size and day give the same rows.
 * @param clicks of the account that is read; every hundredth converts
 * @param importRows rows of the file for the measured import
 */
export async function writeCompareData(folder: string, clicks: number, importRows: number): Promise<CompareData> {
  const manifest = join(folder, 'data.json')
  if (existsSync(manifest)) return { ...(JSON.parse(await readFile(manifest, 'utf8')) as CompareData), folder }
  await mkdir(folder, { recursive: true })
  const data: CompareData = {
    folder,
    clicks,
    importRows,
    countedClicks: 0,
    approvedConversions: 0,
    untilMs: Math.floor(Date.now() / dayMs) * dayMs,
  }
  const { untilMs } = data
  await write(join(folder, 'campaigns.ndjson'), campaigns, (n) => ({ id: `cmp-${n}`, name: `Campaign ${n}` }))
  await write(join(folder, 'clicks.ndjson'), clicks, (n) => {
    const click = clickOf(n, clicks, untilMs)
    if (!click.isBot && !click.isTest) data.countedClicks += 1
    return click
  })
  await write(join(folder, 'conversions.ndjson'), Math.floor(clicks / 100), (n) => {
    const conversion = conversionOf(n, clicks, untilMs)
    if (conversion.status === 'approved') data.approvedConversions += 1
    return conversion
  })
  await write(join(folder, 'import.ndjson'), importRows, (n) => clickOf(n, importRows, untilMs))
  const eventCampaign = (n: number) => `campaign-${n % eventCampaigns}`
  await write(join(folder, 'event-campaigns.ndjson'), eventCampaigns, (n) => ({ id: eventCampaign(n), name: `C${n}` }))
  await write(join(folder, 'event-clicks.ndjson'), eventClicks, (n) => ({
    id: `click-${n}`,
    clickedAt: new Date(untilMs - n * 1000).toISOString(),
    campaignId: eventCampaign(n),
  }))
  await writeFile(manifest, JSON.stringify(data))
  return data
}

/** @returns the fields of click number `n` */
export function clickOf(n: number, all: number, untilMs: number) {
  const draw = draws(n)
  const campaign = Math.floor((draw(1000) / 1000) ** 3 * campaigns)
  return {
    id: `clk_${n.toString(16)}_${draw(1 << 30).toString(16)}`,
    clickedAt: instantOf(n, all, untilMs),
    campaignId: `cmp-${campaign}`,
    offerId: `off-${(campaign * 7 + draw(12)) % 200}`,
    landingPageId: `lp-${(campaign * 3 + draw(6)) % 120}`,
    trafficSourceId: `src-${(campaign + draw(4)) % 25}`,
    visitorId: `vis_${draw(1 << 30).toString(16)}`,
    country: pick(countries, draw),
    region: `R${draw(20)}`,
    city: `City ${draw(2_000)}`,
    device: pick(devices, draw),
    os: pick(['Android', 'iOS', 'Windows', 'macOS'], draw),
    browser: pick(browsers, draw),
    language: 'en-us',
    referrer: `https://www.example-${draw(500)}.com/article/${draw(20_000)}`,
    userAgent: `Mozilla/5.0 (device ${draw(400)}) AppleWebKit/537.36 Chrome/${110 + draw(30)}`,
    ip: `${1 + draw(222)}.${draw(255)}.${draw(255)}.0`,
    subIds: { sub1: `placement-${draw(3_000)}`, sub2: `creative-${draw(80)}` },
    cost: (2 + draw(50)) / 100,
    currency: 'USD',
    isBot: draw(50) === 0,
    isTest: draw(1_000) === 0,
  }
}

/** The conversion of click number `100 n`, within a day after the click. */
function conversionOf(n: number, allClicks: number, untilMs: number) {
  const draw = draws(n + allClicks)
  const click = clickOf(n * 100, allClicks, untilMs)
  return {
    id: `cnv_${n}`,
    convertedAt: new Date(Math.min(Date.parse(click.clickedAt) + draw(dayMs), untilMs - 1)).toISOString(),
    status: pick(statuses, draw),
    clickId: click.id,
    transactionId: `txn-${draw(1 << 30).toString(16)}`,
    couponCode: draw(10) === 0 ? `SAVE${draw(50)}` : null,
    revenue: (500 + draw(10_000)) / 100,
    currency: 'USD',
  }
}

function instantOf(n: number, all: number, untilMs: number): string {
  return new Date(untilMs - days * dayMs + Math.floor((n * days * dayMs) / all)).toISOString()
}

/** Random whole numbers of a seed (mulberry32). */
function draws(seed: number): (below: number) => number {
  let state = Math.imul(seed + 1, 0x9e3779b1)
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

function pick<T>(values: readonly T[], draw: (below: number) => number): T {
  return values[draw(values.length)] as T
}

async function write(file: string, rows: number, rowOf: (n: number) => object): Promise<void> {
  function* chunks() {
    for (let first = 0; first < rows; first += 1_000) {
      const count = Math.min(1_000, rows - first)
      yield Array.from({ length: count }, (_, index) => `${JSON.stringify(rowOf(first + index))}\n`).join('')
    }
  }
  await pipeline(Readable.from(chunks()), createWriteStream(file))
}
