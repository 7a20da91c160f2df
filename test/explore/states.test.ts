// @module-tag all

import { mkdir, readFile } from 'node:fs/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { type Scope, scopes } from '../../schema/scopes.ts'
import { shownText } from '../../src/query/shownText.ts'
import { importContent } from '../import/runImport.ts'
import { makeKey } from '../kit/accounts.ts'
import { testNowMs } from '../kit/app.ts'
import { hasChromium, partsBeyond, refusal } from '../kit/chromium.ts'
import { useOpened } from '../kit/fixtures.ts'
import { randomCasesFactor } from '../kit/randomCases.ts'
import { storeClicks, storeConversions, storeMetadata } from '../kit/rows.ts'
import { openExplorer } from './browser.ts'

const markup = '<img src=x onerror="document.title=\'hacked\'">'
const rightToLeft = '\u202eحملة الربيع\u202d " onclick="x'
const long = 'W'.repeat(4_000)
/** The common begin of two names. */
const twin = 'Summer sale of the northern countries, retargeting on phones, variant'

describe.skipIf(!hasChromium())('what the page /explore shows', () => {
  const explorer = useOpened(openExplorer)
  afterEach(async () => {
    await explorer.page.setViewportSize({ width: 1440, height: 1000 })
    expect(explorer.problems.splice(0)).toEqual([])
  })

  const panel = (name: string) => explorer.page.getByRole('region', { name, exact: true })

  /** Forgets what the browser reports of a failed response on its own. */
  function expectReported(status: number): void {
    const reported = explorer.problems.splice(0)
    expect(reported.length).toBeGreaterThan(0)
    for (const line of reported) expect(line).toContain(`status of ${status}`)
  }

  // The suite opens the narrowest window in the dark theme and a wide one in the light theme; test:long opens all of them in both.
  const windows = [360, 390, 768, 1440, 2560].flatMap((width) => [
    { width, colorScheme: 'dark' as const, tags: width === 360 ? [] : ['long'] },
    { width, colorScheme: 'light' as const, tags: width === 1440 ? [] : ['long'] },
  ])
  for (const { width, colorScheme, tags } of windows) {
    it(`fits a window of ${width} px and is accessible, in the ${colorScheme} theme`, { tags }, async () => {
      const { page, show, violations } = explorer
      await page.setViewportSize({ width, height: 1000 })
      await page.emulateMedia({ colorScheme })
      await show('?country=US&group_by=campaign,country')
      await expect.poll(() => partsBeyond(page)).toEqual([])
      expect(await violations()).toEqual([])
      // To look at them: EXPLORE_SCREENSHOTS=/tmp/explore npx vitest run test/explore/states
      const folder = process.env.EXPLORE_SCREENSHOTS
      if (folder) {
        await mkdir(folder, { recursive: true })
        await page.screenshot({ path: `${folder}/${width}-${colorScheme}.png`, fullPage: true })
      }
    })
  }

  it('shows what a key sees that sees a part, and sends no request that is refused', async () => {
    const { page, show, open, api, requests } = explorer
    const view = { filters: { country: ['US'] }, hidden: ['cost', 'revenue'] }
    const { key } = await makeKey(api.stores, 'demo', undefined, { view })
    await open('?columns=clicks,cost&metrics=cost,revenue&sort=-profit&group_by=country', key)
    const statuses = await Promise.all(requests.map(async (one) => (await one.response())?.status()))
    expect([...new Set(statuses)]).toEqual([200])
    expect(await panel('Funnel').count()).toBe(0)
    expect(await page.locator('[data-metric=cost], [data-metric=profit]').count()).toBe(0)
    expect(await page.locator('[data-metric=clicks]').count()).toBeGreaterThan(0)
    expect((await page.locator('body').allInnerTexts()).join()).not.toMatch(/\b(cost|revenue|profit)/i)
    expect(await page.locator('.top').textContent()).toContain('The key sees only: Country is US')
    await show()
  })

  it('asks for a key, says why one is not accepted, and forgets it', async () => {
    const { page, show, url, key, settle, violations } = explorer
    await show()
    await page.evaluate('sessionStorage.clear()')
    await page.goto('about:blank')
    await page.goto(`${url}/explore#key=trb_live_garbage`)
    await page.getByText('The API key is not valid').waitFor()
    expectReported(401)
    expect(page.url()).toBe(`${url}/explore`)
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    expect(await violations()).toEqual([])
    // The only field has the focus.
    expect(await page.evaluate('document.activeElement.id')).toBe('key')
    await page.getByLabel('API key').fill(key)
    await page.keyboard.press('Enter')
    await settle()
    await explorer.openMenu('page')
    await page.getByRole('button', { name: 'Remove key' }).click()
    await page.getByLabel('API key').waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
  })

  it('asks before the key of a link replaces the key of the tab, unless that key is not valid', async () => {
    const { page, show, url, key, api, settle, violations } = explorer
    const other = await api.account('other')
    const stored = () => page.evaluate("sessionStorage.getItem('tributary-key')")
    await show()
    const link = `${url}/explore?tz=UTC#key=`
    await page.goto(link + other)
    await page.getByText(`${other.slice(0, 13)}…`).waitFor()
    expect(await violations()).toEqual([])
    await page.getByRole('button', { name: 'Keep the present key' }).click()
    await settle()
    expect([await stored(), page.url()]).toEqual([key, `${url}/explore?tz=UTC`])
    await page.goto(link + key)
    await settle()
    await page.goto('about:blank')
    await page.goto(link + other)
    expect(await stored()).toBe(key)
    await page.getByRole('button', { name: 'Use the key of the link' }).click()
    await settle()
    expect(await stored()).toBe(other)
    await page.evaluate("sessionStorage.setItem('tributary-key', 'trb_live_garbage')")
    await page.goto('about:blank')
    await page.goto(link + key)
    await settle()
    expect(await stored()).toBe(key)
    expectReported(401)
  })

  it('names the scopes that a key lacks, and shows all that it may read', async () => {
    const { show, api, page, requests } = explorer
    const without = async (...missing: Scope[]) => {
      const granted = scopes.filter((scope) => !missing.includes(scope))
      await show('', await api.keyOf('demo', granted))
    }
    await show()
    await without('read:conversions')
    for (const name of ['Latest conversions', 'Funnel'])
      expect(await panel(name).textContent()).toContain('Missing scopes of this key: read:conversions')
    expect(await page.locator('.card-value').count()).toBe(7)
    expect(await panel('Drill-down').locator('tbody tr').count()).toBeGreaterThan(5)
    expect(requests.map((request) => new URL(request.url()).pathname)).not.toContain('/api/v1/conversions')
    await without('read:stats', 'read:events', 'read:reports')
    expect(await panel('Totals').textContent()).toContain('Missing scopes of this key: read:stats')
    expect(await panel('Latest conversions').locator('tbody tr').count()).toBeGreaterThan(5)
    expect(await panel('Drill-down').textContent()).toContain('Missing scopes of this key: read:reports')
  })

  it('shows names of a hostile sender as text, in the layout, and numbers and names that differ at their ends in full', async () => {
    const { show, api, page, violations } = explorer
    const key = await api.account('hostile')
    const names = [markup, long, rightToLeft, `${twin} A`, `${twin} B`]
    const named = names.map((name, n) => ({ id: `n${n}`, name }))
    // Each campaign has one of the names. The sub-id of its click is the name of the next campaign.
    const rows = named.map(({ id, name }, n) => {
      return { id, campaign_id: id, country: 'US', sub1: names[n + 1] ?? markup, event_name: name }
    })
    await storeMetadata(api.stores, 'campaigns', 'hostile', named)
    const clicks = rows.map(({ event_name: _, ...row }) => ({ ...row, clicked_at: '2026-11-20 10:00:00.000' }))
    const sales = rows.map((row) => ({ ...row, converted_at: '2026-11-20 11:00:00.000', revenue_base: 9_500 }))
    await storeClicks(api.stores, 'hostile', clicks)
    await storeConversions(api.stores, 'hostile', sales)
    for (const width of randomCasesFactor > 1 ? [360, 1440] : [360]) {
      await page.setViewportSize({ width, height: 1000 })
      await show('?group_by=campaign,sub1', key)
      const shown = await panel('Drill-down').locator('tbody bdi').allTextContents()
      expect(shown.toSorted()).toEqual([...names, ...names].map(shownText).toSorted())
      const cut = await panel('Drill-down')
        .locator('tbody bdi', { hasText: 'variant' })
        .or(page.locator('.card-value'))
        .evaluateAll(
          (all: Record<'scrollHeight' | 'clientHeight' | 'scrollWidth' | 'clientWidth', number>[]) =>
            all.filter((one) => one.scrollHeight > one.clientHeight || one.scrollWidth > one.clientWidth).length,
        )
      expect(cut).toBe(0)
      await expect.poll(() => partsBeyond(page)).toEqual([])
      const hostile = page.locator('.area-drill-down tbody tr', { hasText: markup }).filter({ hasText: 'WWWW' })
      await hostile.locator('button').first().click()
      await explorer.settle()
      await expect.poll(() => page.locator('.chip .name').allTextContents()).toEqual([markup, shownText(long)])
      expect(await panel('Drill-down').locator('tbody tr').count()).toBe(1)
      await expect.poll(() => partsBeyond(page)).toEqual([])
    }
    expect(await page.title()).toBe('Explore · Tributary')
    expect(await violations('.filters')).toEqual([])
  })

  it('shows whole amounts, also in a browser that keeps no data and does not know its time zone', async () => {
    const { api, openOther, url } = explorer
    const key = await api.account('large')
    const at = '2026-11-20T10:00:00Z'
    const sale = { id: 'v1', convertedAt: at, status: 'approved', updatedAt: at, revenue: '1352940.12' }
    await importContent(api.stores, 'large', 'conversions', [sale])
    await importContent(api.stores, 'large', 'costs', [{ id: 'x1', spentAt: at, cost: '999999.99' }])
    const refused = await openOther('de-DE', 360)
    await refused.addInitScript(refusal)
    await refused.goto(`${url}/explore#key=${key}`)
    await refused.locator('.card-value').first().waitFor()
    const shown = await refused
      .locator('.card-value')
      .evaluateAll((all: (Record<'textContent' | 'title', string> & Record<'scrollWidth' | 'clientWidth', number>)[]) =>
        all.map((one) => [one.textContent.replace(/\s/g, ' '), one.title, one.scrollWidth > one.clientWidth]),
      )
    expect(shown).toContainEqual(['1,35 Mio. $', '1352940.12', false])
    expect(shown).toContainEqual(['999.999,99 $', '999999.99', false])
    expect(refused.url()).toContain('tz=UTC')
  })

  it('downloads all rows of a report, or says why it does not', async () => {
    const { show, api, page, problems } = explorer
    const rows = 2_100
    const key = await api.account('many')
    const numbers = Array.from({ length: rows }, (_, n) => n)
    const clicks = numbers.map((n) => ({ id: `c${n}`, clicked_at: '2026-11-20 10:00:00.000', sub1: `v"${n}\n` }))
    await storeClicks(api.stores, 'many', clicks)
    await show('?group_by=sub1', key)
    const download = page.getByRole('button', { name: 'Download CSV of Drill-down' })
    const started = page.waitForEvent('download')
    await download.click()
    const csv = (await readFile((await (await started).path()) ?? '', 'utf8')).slice(1)
    expect(new Set(csv.match(/^"v""\d+\n"/gm)).size).toBe(rows)
    expect(csv.match(/^"\w+_id"/gm)).toHaveLength(1)
    expect(csv.match(/^"\(total\)".*/gm)).toEqual([expect.stringContaining(`,${rows},`)])
    await page.getByText('.csv is downloaded').waitFor()
    // The note covers nothing.
    const isCovering = `document.querySelector('.area-drill-down .actions').contains(document.querySelector('.note:not(:empty)'))`
    expect(await page.evaluate(isCovering)).toBe(true)

    const isSecondPage = (url: URL) => url.searchParams.get('offset') === '1000'
    const message = { error: 'internal_error', message: 'The server failed.' }
    await page.route(isSecondPage, (route) => route.fulfill({ status: 500, json: message }))
    await download.click()
    await page.getByText(/\.csv is not downloaded\. The server failed\./).waitFor()
    await page.unroute(isSecondPage)
    expect(problems.splice(0)).toEqual([expect.stringContaining('status of 500')])
  })

  const locales: [locale: string, decimals: string, tags: string[]][] = [
    ['ar-EG', '٢٫٣', []],
    ['de-DE', '2,3', ['long']],
    ['fr-FR', '2,3', ['long']],
    ['ja-JP', '2.3', ['long']],
  ]
  for (const [locale, decimals, tags] of locales) {
    it(`formats numbers, amounts and dates for the language of the browser: ${locale}`, { tags }, async () => {
      const { openOther, url, key, read } = explorer
      const other = await openOther(locale, 390)
      await other.goto(`${url}/explore?range=7d&interval=hour&tz=Asia/Kolkata#key=${key}`)
      await other.locator('.panels').waitFor()
      await other.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
      const { totals, asOf } = await read('/stats/overview', 'days=7&tz=Asia/Kolkata')
      const expected = await other.evaluate<{ sample: string; cards: string[]; dates: string; asOf: string }>(`(() => {
      const number = (value, options) => new Intl.NumberFormat('${locale}', options).format(value)
      const digits = (count) => ({ minimumFractionDigits: count, maximumFractionDigits: count })
      const amount = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' }
      const { clicks, conversions, revenue, cost, profit, roi, epc } = ${JSON.stringify(totals)}
      return {
        sample: number(2.3),
        cards: [
          ...[clicks, conversions].map((count) => number(count)),
          ...[revenue, cost, profit].map((sum) => number(sum, amount)),
          number(roi, { style: 'unit', unit: 'percent', ...digits(2) }),
          number(epc, { ...amount, ...digits(4) }),
        ],
        dates: new Intl.DateTimeFormat('${locale}', { dateStyle: 'medium', timeZone: 'UTC' })
          .formatRange(new Date('2026-11-15'), new Date('2026-11-21')),
        asOf: new Date('${asOf}')
          .toLocaleString('${locale}', { dateStyle: 'short', timeStyle: 'short', timeZone: 'Asia/Kolkata' }),
      }
    })()`)
      expect(expected.sample).toBe(decimals)
      expect(await other.locator('.card-value').allTextContents()).toEqual(expected.cards)
      expect(await other.locator('.filters [popovertarget]').first().textContent()).toContain(expected.dates)
      expect(await other.locator('.top').textContent()).toContain(expected.asOf)
      // A date in Arabic letters keeps its order inside an English sentence.
      const label = await other.getByRole('img').getAttribute('aria-label')
      expect(label?.includes('\u2068')).toBe(locale === 'ar-EG')
      expect(await partsBeyond(other)).toEqual([])
    })
  }

  it('shows all rows of a page, with header and totals in sight; a narrow table scrolls sideways, first the column of the order', async () => {
    const { page, show } = explorer
    const places = () =>
      page.evaluate<{ isWider: boolean; left: number; head: number }>(`(() => {
        const [region, head] = ['section', 'thead:has(.totals)'].map((part) => document.querySelector('.area-drill-down ' + part))
        const isWider = region.scrollWidth > region.clientWidth
        return { isWider, left: region.scrollLeft, head: head.getBoundingClientRect().top }
      })()`)
    await show('?range=90d&group_by=campaign,country&sort=-epc')
    expect(await panel('Drill-down').locator('tbody tr').count()).toBe(50)
    await panel('Drill-down').locator('tbody tr').nth(25).scrollIntoViewIfNeeded()
    const filters = await page.locator('.filters').boundingBox()
    await expect.poll(places).toEqual({ isWider: false, left: 0, head: filters?.height })
    await page.setViewportSize({ width: 360, height: 800 })
    await expect.poll(places).toMatchObject({ isWider: true, left: 0 })
    const headers = await panel('Drill-down').locator('thead tr').first().locator('th').allTextContents()
    expect(headers.slice(0, 3)).toEqual(['Campaign, Country', 'EPC\u00a0▼', 'Clicks'])
    await panel('Drill-down').getByRole('region', { name: 'Rows of the drill-down' }).focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(async () => (await places()).left).toBeGreaterThan(0)
  })

  it('judges changes of more than 20 %: a higher cost is worse; and shows no unit of time in a spark line that is not complete', async () => {
    const { page, show, read } = explorer
    await show('?group_by=campaign')
    const changes = page.locator('.area-drill-down td[data-metric=cost] .change:not(.hint)')
    const shown = await changes.evaluateAll((all: { textContent: string; className: string }[]) =>
      all.map(({ textContent, className }) => [textContent, className] as const),
    )
    for (const [text] of shown) expect(Math.abs(Number.parseFloat(text.replace(',', '')))).toBeGreaterThan(20)
    expect(new Set(shown.map(([text, name]) => `${text.includes('+')},${name}`))).toEqual(
      new Set(['true,change worse', 'false,change better']),
    )
    const { data } = await read('/stats/daily', 'days=30')
    const points = (await page.locator('.spark polyline').first().getAttribute('points'))?.split(' ') ?? []
    expect(points).toHaveLength(data.filter(({ complete }) => complete).length)
    // Amounts of ten digits are drawn too.
    for (const point of points) expect(Math.abs(Number(point.split(',')[1]))).toBeLessThanOrEqual(1)
  })

  it('says up to when there are clicks, and warns if they have stopped', async () => {
    const { open, show, api, page } = explorer
    const top = page.locator('.top')
    await show()
    expect(await top.textContent()).toMatch(/Clicks up to 11\/\d+\/26/)
    expect(await top.textContent()).not.toContain('No click')
    const key = await api.account('stopped')
    const clickedAt = new Date(testNowMs - 170 * 3_600_000).toISOString()
    const clicks = Array.from({ length: 20 }, (_, n) => ({ id: `stopped-${n}`, campaignId: 'c1', clickedAt }))
    await importContent(api.stores, 'stopped', 'clicks', clicks)
    await open('', key)
    await top.getByText('No click in the last two full hours. The same hours a week ago had 20.').waitFor()
  })

  it('says why a range is empty, compares nothing with it, draws no axis, and clears the filters', async () => {
    const { show, page } = explorer
    await show('?from=2020-01-01&to=2020-01-02')
    for (const name of ['Time series', 'Drill-down'])
      await expect.poll(() => panel(name).textContent()).toContain('No data before Sep 2')
    expect(await page.locator('.chart, .change').count()).toBe(0)
    // No row has so many clicks.
    await show('?min_clicks=9999999')
    expect(await panel('Drill-down').locator('.state').textContent()).toContain('No row has such numbers.')
    await show('?country=US&device=!desktop,mobile,tablet,other')
    await expect.poll(() => panel('Drill-down').textContent()).toContain('in this range with these filters')
    await panel('Time series').getByRole('button', { name: 'Clear filters' }).press('Enter')
    await panel('Drill-down').locator('tbody tr').first().waitFor()
    expect(new URL(page.url()).search).toBe('?tz=UTC')
    await page.locator('.area-series:focus').waitFor()
  })

  it('says how an account without rows gets some', async () => {
    const { show, api, violations } = explorer
    await show('', await api.account('empty'))
    await expect.poll(() => panel('Drill-down').textContent()).toContain('or run: tributary demo --account empty')
    expect(await violations('.panels')).toEqual([])
  })

  it('says beside the filters, once, why a filter is not valid, whether it is typed or in an address', async () => {
    const { show, page, violations } = explorer
    await show()
    await page.getByRole('button', { name: 'Add filter' }).click()
    const value = page.getByLabel('Value', { exact: true })
    await value.fill('atlantis')
    await value.press('Enter')
    await explorer.settle()
    expect(await page.getByRole('alert').allTextContents()).toEqual([expect.stringContaining('country')])
    expectReported(400)
    await page.goBack()
    await explorer.settle()
    await page.getByRole('button', { name: 'Add filter' }).click()
    await panel('Values in the range').or(page.getByLabel('Values in the range')).locator('li').first().waitFor()
    await value.fill('germ')
    await value.press('Enter')
    await expect.poll(() => new URL(page.url()).search).toBe('?country=DE&tz=UTC')
    await explorer.settle()
    for (const [search, reason] of Object.entries({
      '?country=germany': 'country',
      '?from=2020-01-01&to=2026-01-01': '366 days',
    })) {
      await show(search)
      expectReported(400)
      expect(await page.getByRole('alert').allTextContents()).toEqual([expect.stringContaining(reason)])
    }
    expect(await violations('.filters')).toEqual([])
  })

  it('shows the message of the API and the request id in the panel that failed', async () => {
    const { show, page, violations } = explorer
    await show('?steps=visit,not%20a%20name')
    expectReported(400)
    const alert = await panel('Funnel').getByRole('alert').textContent()
    expect(alert).toMatch(/steps.*Request: [0-9a-f-]{36}$/)
    expect(await page.getByRole('alert').count()).toBe(1)
    expect(await violations('.area-funnel')).toEqual([])
  })

  it('waits as the API says when the rate limit is reached, and says so', async () => {
    const { show, page } = explorer
    await show()
    let rejected = 0
    await page.route('**/api/v1/reports?**', (route) => {
      if (rejected++ > 0) return route.continue()
      const body = JSON.stringify({ error: 'rate_limited', message: 'Too many requests.', requestId: 'r' })
      return route.fulfill({ status: 429, contentType: 'application/json', headers: { 'retry-after': '1' }, body })
    })
    await explorer.openMenu('range')
    await page.getByRole('button', { name: 'Last 7 days' }).click()
    await panel('Drill-down').getByText('The rate limit is reached; the request is sent again at').waitFor()
    await panel('Drill-down').getByText('The rate limit is reached').waitFor({ state: 'detached' })
    await explorer.settle()
    expect(await panel('Drill-down').locator('tbody tr').count()).toBeGreaterThan(5)
    await page.unroute('**/api/v1/reports?**')
    expectReported(429)
  })

  it('shows that panels are loading, and aborts requests that are no longer wanted', async () => {
    const { show, page, settle, violations } = explorer
    await show()
    const heldPaths = /\/api\/v1\/(stats\/daily|reports)\?/
    const held: (() => Promise<void>)[] = []
    await page.route(heldPaths, (route) => {
      if (!route.request().url().includes('days=7&')) return route.continue()
      held.push(() => route.continue().catch(() => {}))
      return undefined
    })
    await explorer.openMenu('range')
    await page.getByRole('button', { name: 'Last 7 days' }).click()
    await expect.poll(() => held.length).toBe(2)
    for (const name of ['Time series', 'Drill-down']) expect(await panel(name).getAttribute('aria-busy')).toBe('true')
    const title = (part: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('.area-drill-down h2'), '::after').${part}`)
    expect(await title('content')).toContain('loading')
    await expect.poll(() => title('opacity')).toBe('1')
    // The rows of before keep their own header.
    const header = () => panel('Drill-down').locator('thead th').allTextContents()
    const before = await header()
    await panel('Drill-down').getByLabel('Group by').selectOption('country')
    await page.getByRole('button', { name: 'Revenue', exact: true }).last().click()
    expect(await header()).toEqual(before)
    expect(await violations('.area-series')).toEqual([])
    const aborted = page.waitForEvent('requestfailed')
    await explorer.openMenu('range')
    await page.getByRole('button', { name: 'Last 90 days' }).click()
    expect((await aborted).failure()?.errorText).toBe('net::ERR_ABORTED')
    await settle()
    for (const release of held) await release()
    await page.unroute(heldPaths)
    expect(await panel('Time series').locator('tbody tr').count()).toBe(90)
  })
})
