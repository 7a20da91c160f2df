// @module-tag all

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Locator } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { endOfMonth } from '../../src/explore/dates.ts'
import { testNowMs } from '../kit/app.ts'
import { hasChromium } from '../kit/chromium.ts'
import { useOpened } from '../kit/fixtures.ts'
import { isInstalled } from '../kit/isInstalled.ts'
import { openExplorer } from './browser.ts'

interface Cell {
  dataset: { metric: string }
  title: string
  firstChild: { textContent: string }
}

describe.skipIf(!hasChromium())('the page /explore in a browser', () => {
  const explorer = useOpened(openExplorer)
  afterEach(() => expect(explorer.problems.splice(0)).toEqual([]))

  const panel = (name: string) => explorer.page.getByRole('region', { name, exact: true })
  /** The query of the address, without the default zone of `open`. */
  const query = () => new URL(explorer.page.url()).search.replace(/[?&]tz=UTC$/, '')
  const copied = () => explorer.page.evaluate<string>('navigator.clipboard.readText()')
  const texts = (selector: string) => explorer.page.locator(selector).allTextContents()
  const cells = (selector: string) =>
    explorer.page
      .locator(selector)
      .evaluateAll((all: Cell[]) =>
        all.map(({ dataset, title, firstChild }) => [dataset.metric, title, firstChild.textContent]),
      )
  const cards = async () =>
    Object.fromEntries((await cells('.card-value')).map(([metric, title]) => [metric, Number(title)]))
  const shownIn = async (selector: string) =>
    Object.fromEntries((await cells(selector)).map(([metric, _title, text]) => [metric, text]))
  const cardMetrics = ['clicks', 'conversions', 'revenue', 'cost', 'profit', 'roi', 'epc']
  const pick = (values: Record<string, unknown>) => Object.fromEntries(cardMetrics.map((name) => [name, values[name]]))

  async function expectNumbers(selection: string, interval = 'day'): Promise<void> {
    const { read } = explorer
    const overview = await read('/stats/overview', selection)
    expect(await cards()).toEqual(pick(overview.totals))
    expect(pick(await shownIn('.area-drill-down .totals td'))).toEqual(await shownIn('.card-value'))
    const report = await read('/reports', `group_by=campaign&limit=50&${selection}`)
    expect(await texts('.area-drill-down tbody th')).toEqual(report.data.map((row) => row.name ?? row.id))
    const integers = (list: string[]) => list.map((text) => Number(text.replaceAll(',', '')))
    const counts = await cells('.area-drill-down tbody td[data-metric=conversions]')
    expect(integers(counts.map(([_metric, _title, text = '']) => text))).toEqual(
      report.data.map(({ conversions }) => conversions),
    )
    const daily = await read('/stats/daily', `${selection}&interval=${interval}`)
    const shown = (await texts('.area-series tbody td:nth-child(2)')).filter((text) => text !== '–')
    expect(integers(shown)).toEqual(daily.data.slice(0, shown.length).map(({ clicks }) => clicks))
    const funnel = await read('/funnels', `steps=click,conversion&${selection}`)
    expect(integers(await texts('[data-entered]'))).toEqual(funnel.steps.map(({ entered }) => entered))
    const conversions = await read('/conversions', `limit=20&${selection}`)
    expect(await texts('.area-conversions .status')).toEqual(conversions.data.map(({ status }) => status))
  }

  it('takes the key of a link out of the address, sends it to this server only, and adds the time zone of the browser', async () => {
    const { page, settle, key, requests, url } = explorer
    await page.goto(`${url}/explore?range=7d#key=${key}`)
    await settle()
    expect(page.url()).toBe(`${url}/explore?range=7d&tz=America%2FNew_York`)
    expect(await page.evaluate('sessionStorage.getItem("tributary-key")')).toBe(key)
    expect(requests.length).toBeGreaterThan(4)
    for (const request of requests)
      expect([request.url().includes(key), request.headers().authorization]).toEqual([false, `ApiKey ${key}`])
    await expectNumbers('days=7&tz=America/New_York')
  })

  it('shows the numbers of the API in every panel, and the same ones', async () => {
    await explorer.show('?tz=Australia/Adelaide&country=US&device=!tablet')
    await expectNumbers('days=30&tz=Australia/Adelaide&country=US&device=!tablet')
    await explorer.show('?range=yesterday')
    await expectNumbers('range=yesterday&tz=UTC', 'hour')
  })

  it('changes range, zone and comparison, and rejects a name that is not a zone; the address has them, and the back button returns', async () => {
    const { page, show, settle, read, openMenu } = explorer
    await show('?range=7d')
    await openMenu('page')
    const zone = page.getByRole('combobox', { name: 'Time zone' })
    await zone.fill('Mars/Olympus')
    await zone.blur()
    const problemOf = (field: Locator) =>
      field.evaluate(({ validationMessage }: { validationMessage: string }) => validationMessage)
    expect(await problemOf(zone)).toBe('There is no time zone with this name.')
    expect(query()).toBe('?range=7d')
    await zone.fill('Australia/Adelaide')
    await page.keyboard.press('Enter')
    await openMenu('range')
    await page.getByLabel('Compare with').selectOption('previous_year')
    await settle()
    expect(query()).toBe('?range=7d&compare=previous_year&tz=Australia%2FAdelaide')
    expect(await texts('[data-dates]')).toEqual(['Nov 16 – 22, 2026', 'Nov 16 – 22, 2025'])
    expect(await page.locator('.change').count(), 'the year before has no numbers').toBe(0)
    await page.getByLabel('Compare with').selectOption('custom')
    await page.getByLabel('Compare to').fill('2026-10-18')
    await page.getByLabel('Compare from').fill('2026-10-12')
    await settle()
    const compared = 'compare_from=2026-10-12&compare_to=2026-10-18'
    expect(query()).toBe(`?range=7d&${compared}&tz=Australia%2FAdelaide`)
    const { previous } = await read('/stats/overview', `days=7&tz=Australia/Adelaide&${compared}`)
    expect(await page.locator('.card-change').first().textContent()).toContain(`vs. ${previous?.totals?.clicks}`)
    await page.getByLabel('Compare with').selectOption('none')
    await settle()
    expect(await page.locator('.change').count()).toBe(0)
    const from = page.getByLabel('From', { exact: true })
    await from.fill('2026-11-01')
    await page.getByLabel('To', { exact: true }).fill('2026-11-10')
    await settle()
    // A date after the end changes nothing.
    await from.fill('2026-11-15')
    await from.blur()
    expect([await problemOf(from), await from.inputValue()]).toEqual([
      expect.stringMatching(/11\/10\/2026/),
      '2026-11-15',
    ])
    await from.fill('2026-11-01')
    await settle()
    await expectNumbers('from=2026-11-01&to=2026-11-10&tz=Australia/Adelaide')
    await page.goBack()
    await page.goBack()
    await expect.poll(query).toBe('?range=7d&compare=none&tz=Australia%2FAdelaide')
    await settle()
    await expectNumbers('days=7&tz=Australia/Adelaide')
  })

  it('ends the values of today and of the day before at the present time of day, as the totals do', async () => {
    const { show, read } = explorer
    const numbers = async (column: number) =>
      (await texts(`.area-series tbody td:nth-child(${column})`)).map((text) => Number(text.replace('–', '0')))
    const sum = (values: number[]) => values.reduce((all, value) => all + value, 0)
    await show('?range=today')
    const { data } = await read('/stats/daily', 'range=today&interval=hour&compare=previous_period')
    // The hour that begins now is not over, and the day before ends with it.
    const shown = await texts('.area-series tbody td:nth-child(2)')
    expect(shown).toEqual(data.map(({ clicks }, hour) => (hour <= 15 ? `${clicks}` : '–')))
    const earlier = data.map(({ previous }, hour) => (hour < 15 ? `${previous?.clicks}` : '–'))
    expect(await texts('.area-series tbody td:nth-child(3)')).toEqual(earlier)
    const totals = async (search: string) => (await read('/stats/overview', search)).previous?.totals
    expect(sum(await numbers(3))).toBe((await totals('range=today&compare=previous_period'))?.clicks)
    await show('?range=7d')
    expect(sum(await numbers(3))).toBe((await totals('days=7&compare=previous_period'))?.clicks)
    for (const name of ['Totals', 'Time series'])
      await panel(name).getByText('Compared up to the same time of day, 11/14/26, 3').waitFor()
    await show('?range=yesterday')
    expect(await panel('Totals').getByText('same time of day').count()).toBe(0)
  })

  it('draws two chosen metrics by hour, day or week, with the previous period', async () => {
    const { page, show, read } = explorer
    await show('?range=7d&metrics=clicks')
    const draw = (label: string) => panel('Totals').getByRole('button', { name: new RegExp(`^${label}`) })
    await panel('Totals').getByRole('button', { name: 'All totals' }).click()
    await draw('Cost').click()
    await draw('Conversion rate').click()
    await panel('Totals').getByRole('button', { name: 'Fewer totals' }).click()
    expect(await panel('Totals').locator('[aria-pressed=true] > .hint:first-child').allTextContents()).toEqual([
      'Cost',
      'Conversion rate',
    ])
    for (const interval of ['hour', 'week']) {
      await show(`?range=7d&metrics=cost,cr&interval=${interval}`)
      const { data } = await read('/stats/daily', `days=7&interval=${interval}&compare=previous_period`)
      const times = (await texts('.area-series tbody th')).map((text) => text.split(' ')[0])
      expect(times).toEqual(data.map(({ id }) => id))
      const rates = await texts('.area-series tbody td:nth-child(5)')
      expect(rates.map((text) => (text === '–' ? null : Number.parseFloat(text)))).toEqual(
        data.map(({ previous }) => (typeof previous?.cr === 'number' ? Math.round(previous.cr * 100) / 100 : null)),
      )
    }
    expect(await page.locator('.chart canvas').count()).toBe(1)
    await page.locator('.chart .u-over').hover({ position: { x: 500, y: 100 } })
    await expect.poll(() => page.locator('.readout').textContent()).toMatch(/Cost \$.*Conversion rate /)
  })

  it('drills down: a row filters and leads to the next dimension; the path and the browser lead back', async () => {
    const { page, show, settle, read } = explorer
    await show('?range=90d&group_by=campaign,country&sort=-revenue')
    const report = await read('/reports', 'group_by=campaign,country&days=90&sort=-revenue&limit=50')
    const rows = page.locator('.area-drill-down tbody tr')
    expect(await texts('[data-count]')).toEqual([`1–${report.data.length} of ${report.bucketCount}`])
    const { campaign, country } = report.data[0]?.dimensions ?? {}
    if (!campaign || !country) throw new Error('no row')
    expect(await rows.first().locator('.name').allTextContents()).toEqual(
      [campaign, country].map(({ id, name }) => name ?? id),
    )
    // Beside the number, which leads to its rows.
    await rows
      .first()
      .locator('td[data-metric=cost]')
      .click({ force: true, position: { x: 2, y: 2 } })
    await settle()
    const path = `campaign_id=${campaign.id}&country=${country.id}`
    expect(query()).toBe(`?range=90d&group_by=device&sort=-revenue&${path}`)
    expect(await cards()).toEqual(pick((await read('/stats/overview', `days=90&${path}`)).totals))
    await expect.poll(() => texts('.chip .name')).toEqual([campaign.name, country.name ?? country.id])
    await page.getByRole('button', { name: 'mobile', exact: true }).focus()
    await page.keyboard.press('Enter')
    await settle()
    expect(query()).toBe(`?range=90d&group_by=offer&sort=-revenue&${path}&device=mobile`)
    expect(await cards()).toEqual(pick((await read('/stats/overview', `days=90&${path}&device=mobile`)).totals))
    await page.getByRole('button', { name: /^Campaign:/ }).click()
    await settle()
    expect(query()).toBe(`?range=90d&group_by=country&sort=-revenue&campaign_id=${campaign.id}`)
    await page.goBack()
    await expect.poll(query).toContain('device=mobile')
    await page.getByRole('button', { name: 'All', exact: true }).click()
    await settle()
    expect(query()).toBe('?range=90d&sort=-revenue')
  })

  const seriesCases = [
    ['cr', '', 'ratio', []],
    ['clicks', '&country=US,DE,FR,GB,IN,BR,(not set)', 'sum', ['long']],
    ['revenue', '&country=!US,DE', 'sum', ['long']],
  ] as const
  for (const [metric, filter, kind, tags] of seriesCases) {
    const title = `draws ${metric} of the five largest countries and of all others over time, with the filter '${filter}'`
    it(title, { tags: [...tags] }, async () => {
      const { page, show, read } = explorer
      await show(`?range=7d&metrics=${metric},cost${filter}`)
      await panel('Time series').getByLabel('Split by', { exact: true }).selectOption('country')
      await explorer.settle()
      expect(query()).toContain('series_by=country')
      const by = metric === 'revenue' ? 'Revenue' : 'Clicks'
      await panel('Time series').getByText(`The five largest by ${by}, and all others.`).waitFor()
      const table = page.locator('.area-series table')
      const order = kind === 'sum' ? metric : 'clicks'
      const largest = (await read('/reports', `group_by=country&days=7${filter}&sort=-${order}&limit=5`)).data
      const names = largest.map(({ id, name }) => name ?? id)
      expect(await table.locator('thead .name').allTextContents()).toEqual(['Time', ...names, 'All others'])
      const rows = await table
        .locator('tbody tr')
        .evaluateAll((all: { cells: { textContent: string }[] }[]) =>
          all.map(({ cells }) => [...cells].slice(1).map(({ textContent }) => textContent.replace(/[$,%]/g, ''))),
        )
      const { data } = await read('/stats/daily', `days=7${filter}`)
      expect(rows).toHaveLength(data.length)
      if (kind === 'sum') {
        const sums = rows.map((row) => row.reduce((sum, text) => sum + Number(text), 0))
        for (const [at, day] of data.entries()) expect(sums[at]).toBeCloseTo(day[metric] ?? 0, 6)
      } else {
        const others = await read('/stats/daily', `days=7&country=!${largest.map(({ id }) => id)}`)
        expect(rows.map((row) => row.at(-1))).toEqual(others.data.map(({ cr }) => cr?.toFixed(2) ?? '–'))
      }
      // The command of the panel returns the numbers of the five lines.
      await page.getByRole('button', { name: 'Copy as curl of Time series' }).click()
      await expect.poll(copied).toContain('group_by=country,day')
      const report = await read('/reports', new URL(/'([^']*)'/.exec(await copied())?.[1] ?? '').search.slice(1))
      const [first] = largest
      for (const [at, { id }] of data.entries()) {
        const row = report.data.find(({ dimensions: of }) => of.country?.id === first?.id && of.day?.id === id)
        const value = row?.[metric] ?? (kind === 'sum' ? 0 : null)
        expect(rows[at]?.[0]).toBe(value === null ? '–' : metric === 'clicks' ? `${value}` : value.toFixed(2))
      }
    })
  }

  it('draws the series of each value, in few requests, across a change of clocks', async () => {
    const { page, open, read, requests } = explorer
    const zone = 'tz=America/New_York&interval=hour'
    await open(`?range=30d&series_by=os&${zone}`)
    // The key, the totals with their series, the clicks of bots, the largest values, their five lines, the line of the others, and the three other panels.
    await expect.poll(() => new Set(requests.map((request) => request.url())).size).toBe(14)
    const rows = await page
      .locator('.area-series tbody tr')
      .evaluateAll((all: { cells: { textContent: string }[] }[]) =>
        all.map(({ cells }) => [...cells].map((cell) => cell.textContent)),
      )
    const { data: largest } = await read('/reports', 'group_by=os&days=30&tz=America/New_York&limit=5')
    for (const [at, { id }] of largest.entries()) {
      const { data } = await read('/stats/daily', `days=30&${zone}&os=${id}`)
      const shown = rows.map((row) => row[at + 1]).filter((text) => text !== '–')
      expect(shown).toEqual(data.slice(0, shown.length).map(({ clicks }) => clicks?.toLocaleString('en-US')))
      expect(shown.length).toBe(29 * 24 + 1 + 11)
    }
  })

  it('copies the link of a view without the key', async () => {
    const { page, show, key, url } = explorer
    await show('?range=7d&country=US&group_by=device')
    await explorer.openMenu('page')
    await page.getByRole('button', { name: 'Copy link' }).press('Enter')
    await expect.poll(copied).toBe(`${url}/explore?range=7d&group_by=device&country=US&tz=UTC`)
    expect(await copied()).not.toContain(key)
  })

  it('shows a text to copy by hand if the browser refuses the clipboard, as for pages without TLS', async () => {
    const { page, show } = explorer
    await show()
    await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })')
    const asked = page.waitForEvent('dialog')
    const click = page.getByRole('button', { name: 'Copy as curl of Totals' }).click()
    const dialog = await asked
    expect(dialog.defaultValue()).toContain('/stats/overview?days=30')
    await dialog.dismiss()
    await click
  })

  it('shows the columns, the least clicks, the pages and the rows that are chosen', async () => {
    const { page, show, settle, read } = explorer
    await show('?range=90d&group_by=campaign,country,device')
    const names = (body: { data: { dimensions: Record<string, { id: string; name: string | null }> }[] }) =>
      body.data.flatMap(({ dimensions }) => Object.values(dimensions).map(({ id, name }) => name ?? id))
    const search = 'group_by=campaign,country,device&days=90'
    const requested = page.waitForRequest(/&offset=50&/)
    await page.getByRole('button', { name: 'Next page' }).click()
    await settle()
    const { searchParams } = new URL((await requested).url())
    const { previous } = await read('/reports', `${search}&compare=previous_period&limit=1`)
    expect(searchParams.get('previous_until')).toBe(previous?.to)
    const second = await read('/reports', `${search}&limit=50&offset=50`)
    expect(await texts('.area-drill-down tbody .name')).toEqual(names(second))
    expect(await texts('[data-count]')).toEqual([`51–${50 + second.data.length} of ${second.bucketCount}`])
    await show('?range=90d&group_by=campaign,country,device&min_clicks=20&columns=clicks,visitors')
    const large = await read('/reports', `${search}&min_clicks=20`)
    expect(await texts('.area-drill-down tbody .name')).toEqual(names({ data: large.data.slice(0, 50) }))
    const { country } = large.data.at(-1)?.dimensions ?? {}
    await page.getByLabel('Search the rows').fill(country?.name ?? '')
    await settle()
    const found = large.data.filter(({ dimensions }) => dimensions.country?.name === country?.name)
    expect(await texts('.area-drill-down tbody .name')).toEqual(names({ data: found }))
    const { totals } = await read('/reports', `${search}&metrics=visitors`)
    expect((await shownIn('.area-drill-down .totals td')).visitors).toBe(totals.visitors?.toLocaleString('en-US'))
  })

  it('orders rows by their change as the API does and shows it, and by the value if nothing is compared', async () => {
    const { show, read } = explorer
    const search = 'group_by=country&days=7&limit=50'
    await show('?range=7d&group_by=country&sort=-change.revenue')
    const { data } = await read('/reports', `${search}&compare=previous_period&sort=-change.revenue`)
    expect(await texts('.area-drill-down tbody th')).toEqual(data.map(({ id, name }) => name ?? id))
    const shown = (await texts('.area-drill-down tbody [data-metric=revenue] .change')).map((text) =>
      Number(text.replace(/[+$,]/g, '')),
    )
    const differences = data.map(({ revenue = 0, previous }) => revenue - (previous?.revenue ?? 0))
    expect(shown).toEqual(differences.map((value) => expect.closeTo(value, 1)))
    await show('?range=7d&group_by=country&sort=-change.revenue&compare=none')
    const byValue = (await read('/reports', `${search}&sort=-revenue`)).data
    expect(await texts('.area-drill-down tbody th')).toEqual(byValue.map(({ id, name }) => name ?? id))
    expect((await texts('.area-drill-down [aria-sort]')).join()).toBe('Revenue\u00a0▼')
  })

  it('leads from a number to its rows, and from a conversion to its journey', async () => {
    const { page, show, read, violations } = explorer
    await show('?range=90d&group_by=country,month&sort=-conversions')
    const { data } = await read('/reports', 'group_by=country,month&days=90&sort=-conversions')
    const { country, month } = data[0]?.dimensions ?? {}
    // The account has rows of 60 days, so nothing is compared.
    await panel('Totals').getByText('No data before Sep 2').waitFor()
    const number = page.locator('.area-drill-down tbody tr').first().locator('[data-metric=conversions] button')
    await number.click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('tbody tr').first().waitFor()
    const to = endOfMonth(`${month?.id}-01`)
    const list = await read(
      '/conversions',
      `country=${country?.id}&status=approved&from=${month?.id}-01&to=${to}&limit=100`,
    )
    expect(list.data).toHaveLength(data[0]?.conversions ?? -1)
    const titles = () =>
      dialog.locator('tbody tr').evaluateAll((rows: { title: string }[]) => rows.map(({ title }) => title))
    expect(await titles()).toEqual(list.data.map(({ id }) => `Id: ${id}`))
    // Without the country and the status, which are filtered.
    const columns = ['Time', 'Event', 'Id', 'Campaign', 'Offer', 'Device', 'Sub-ids', 'Revenue']
    expect(await dialog.locator('thead .name').allTextContents()).toEqual(columns)
    expect(await dialog.locator('h2').textContent()).toContain(`${list.data.length} Approved conversions: `)
    expect(await dialog.locator('section').first().textContent()).toContain(`${list.data.length} rows.`)
    expect(await violations('dialog')).toEqual([])
    await dialog.locator('tbody button').first().click()
    await dialog.getByRole('region', { name: 'Rows of the journey' }).waitFor()
    const journey = await read('/journeys', `visitor_id=${list.data[0]?.visitorId}&limit=200`)
    expect(await dialog.locator('tbody td:nth-child(2)').allTextContents()).toEqual(
      journey.data.map(({ kind }) => kind),
    )
    expect(await violations('dialog')).toEqual([])
    await dialog.getByRole('button', { name: 'Back' }).click()
    await dialog.locator('tbody tr').first().waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await show('?range=90d&sort=-cost')
    const { data: campaigns } = await read('/reports', 'group_by=campaign&days=90&sort=-cost')
    const { data: allCosts } = await read('/costs', 'days=90&limit=200')
    const ofCosts = new Set(allCosts.map(({ campaignId }) => campaignId))
    // The cost of a campaign without costs is the cost of its clicks.
    for (const hasCosts of [true, false]) {
      const at = campaigns.findIndex(({ id, cost }) => cost && ofCosts.has(id) === hasCosts)
      await page.locator('.area-drill-down tbody [data-metric=cost]').nth(at).locator('button').click()
      await dialog.locator('tbody tr').first().waitFor()
      const search = `campaign_id=${campaigns[at]?.id}&days=90&limit=100`
      const rows = hasCosts ? read('/costs', search) : read('/clicks', `${search}&is_bot=false&is_test=false`)
      expect(await titles()).toEqual((await rows).data.map(({ id }) => `Id: ${id}`))
      expect(await dialog.getByText('The cost of clicks is not in this list.').count()).toBe(hasCosts ? 1 : 0)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    }
    await show('?range=90d&country=US&group_by=hour_of_day')
    const without = await read('/stats/overview', 'country=(not set)&days=90')
    const text = `Not counted: cost without country, ${without.totals.cost?.toLocaleString('en-US', { style: 'currency', currency: 'USD' })}`
    await page.locator('.filters').getByText(text).waitFor()
    expect(await page.locator('.area-drill-down tbody .count-link').count()).toBe(0)
  })

  for (const groups of ['week', 'month,day', 'week,campaign']) {
    it(`filters by the days that a row has in the range: ${groups}`, { tags: 'long' }, async () => {
      const { page, show, settle, read } = explorer
      const report = await read('/reports', `group_by=${groups}&days=30&sort=id`)
      await show(`?group_by=${groups}&sort=id`)
      await page.locator('.area-drill-down tbody button').first().click()
      await settle()
      expect((await cards()).clicks).toBe(report.data[0]?.clicks)
    })
  }

  it('draws weekdays and hours as a heat map with averages of the values of the API, for screen readers the exact ones', async () => {
    const { show, settle, read } = explorer
    await show('?group_by=weekday,hour_of_day')
    const { data } = await read('/reports', 'group_by=weekday,hour_of_day&days=30&sort=id')
    const days = Array.from({ length: 30 }, (_, n) => new Date(testNowMs - n * 86_400_000).getUTCDay() || 7)
    const begun = new Date(testNowMs).getUTCHours()
    const countOf = (weekday: number, hour: number) =>
      days.filter((day, n) => day === weekday && (n > 0 || hour <= begun)).length
    const cells = panel('Drill-down').locator('tbody td')
    expect(await cells.count()).toBe(7 * 24)
    const shown = async (selector: string) =>
      (await cells.locator(selector).allTextContents()).map((text) =>
        text === '–' ? 0 : Number(text.replace(/[$,]/g, '')),
      )
    const inCell = { maximumFractionDigits: 1, maximumSignificantDigits: 2, roundingPriority: 'morePrecision' } as const
    const valuesOf = (metric: 'clicks' | 'revenue', digits: Intl.NumberFormatOptions) =>
      Array.from({ length: 7 * 24 }, (_, index) => {
        const [weekday, hour] = [`${Math.floor(index / 24) + 1}`, `${index % 24}`.padStart(2, '0')]
        const row = data.find(({ dimensions: of }) => of.weekday?.id === weekday && of.hour_of_day?.id === hour)
        const sum = row?.[metric] ?? 0
        const average = sum / countOf(Number(weekday), Number(hour))
        // Rounded as the page does it: 0.155 is 0.16.
        return Number(average.toLocaleString('en-US', digits))
      })
    expect(await shown('[aria-hidden=true]')).toEqual(valuesOf('clicks', inCell))
    await panel('Drill-down').getByLabel('Metric').selectOption('revenue')
    await settle()
    // Cells show fewer digits than screen readers read.
    expect(await shown('.visually-hidden')).toEqual(valuesOf('revenue', { maximumFractionDigits: 2 }))
  })

  it('keeps the key when it is loaded again, and draws the chart again when the theme of the system changes', async () => {
    const { page, show, settle } = explorer
    await show()
    const drawn = () => page.evaluate<string>("document.querySelector('.chart canvas').toDataURL()")
    const light = await drawn()
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(drawn).not.toBe(light)
    await page.emulateMedia({ colorScheme: 'light' })
    await expect.poll(drawn).toBe(light)
    await page.reload()
    await settle()
    expect((await texts('.account')).join()).toBe('demo')
  })

  it('counts conversions at the time of their click if that is chosen, without links to their rows', async () => {
    const { page, show, read } = explorer
    await show('?count_at=click')
    const [atClick, atConversion] = await Promise.all(
      ['days=30&count_at=click', 'days=30'].map((search) => read('/stats/overview', search)),
    )
    expect(atClick?.totals).not.toEqual(atConversion?.totals)
    expect(await cards()).toEqual(pick(atClick?.totals ?? {}))
    expect(pick(await shownIn('.area-drill-down .totals td'))).toEqual(await shownIn('.card-value'))
    await page.locator('.filters [popovertarget]', { hasText: 'by click time' }).waitFor()
    expect(await page.locator('td[data-metric=clicks] .count-link').count()).toBeGreaterThan(0)
    expect(await page.locator('td[data-metric=conversions] .count-link').count()).toBe(0)
  })

  it('shows conversions by status, what the totals do not count, and both times of conversions', async () => {
    const { page, show, read } = explorer
    await show('?group_by=status&range=last_month')
    const report = await read('/reports', 'group_by=status&range=last_month&sort=-conversions')
    const pending = page.locator('.area-drill-down tbody td[data-metric=pendingConversions] .count-link')
    const { pendingConversions, pendingRevenue, holdConversions } = report.totals
    expect(await pending.allTextContents()).toEqual([`${pendingConversions}`])
    const money = (amount = 0) => amount.toLocaleString('en-US', { style: 'currency', currency: 'USD' })
    const waiting = Number(pendingConversions) + Number(holdConversions)
    await panel('Totals')
      .getByText(new RegExp(`^and ${waiting} pending.*, \\${money(pendingRevenue)}$`))
      .waitFor()
    await page.getByRole('button', { name: 'By click time too' }).click()
    const { totals, lateConversions } = await read('/stats/overview', 'range=last_month&count_at=click')
    expect(lateConversions).toBeGreaterThan(0)
    await panel('Totals').getByText(`${totals.conversions} by click time`).waitFor()
    await panel('Totals').getByText(`${lateConversions} of ${totals.conversions} came after the range`).waitFor()
    const bots = (await read('/stats/overview', 'range=last_month&bots=only')).totals
    expect(bots.clicks).toBeGreaterThan(0)
    await panel('Totals')
      .getByText(`${bots.clicks} clicks of bots, ${money(bots.cost)}, are not counted`)
      .click()
    await page.getByRole('dialog').locator('tbody tr').first().waitFor()
    await page.keyboard.press('Escape')
    // Other totals never stand beside these until both are read.
    const byTime = panel('Totals').getByText(/by \w+ time/i)
    await page.route(/overview.*count_at=click/, async (route) => {
      await page.waitForTimeout(1_000)
      expect(await byTime.count(), 'only the button').toBe(1)
      await route.continue()
    })
    await show('?range=last_week&count_at=click')
    await page.unroute(/overview.*count_at=click/)
    const week = (await read('/stats/overview', 'range=last_week')).totals
    expect(await panel('Totals').getByText(`${week.conversions} by conversion time`).count()).toBe(1)
    await show('?range=7d')
    expect(await byTime.count(), 'the range is not over').toBe(0)
  })

  it('filters by parts of texts and by metrics, with the parameter `filters` of the API', async () => {
    const { page, show, settle, read } = explorer
    await show('?range=90d')
    async function add(of: string, condition: string, value: string) {
      await page.getByRole('button', { name: 'Add filter' }).click()
      await page.getByLabel('Dimension', { exact: true }).selectOption(of)
      await page.getByLabel('Condition').selectOption(condition)
      await page.getByLabel('Value', { exact: true }).fill(value)
      await page.keyboard.press('Enter')
      await settle()
    }
    await add('os', 'contains', 'and')
    await add('cost', '>=', '20')
    expect(await texts('.chip .name')).toEqual(['Operating system contains and', 'Rows with Cost >= 20'])
    expect(await panel('Drill-down').getByText('Total with the rows left out').count()).toBe(1)
    const [ofRows, ofMetric] = ['["contains","os",["and"]]', '[">=","cost",20]']
    expect(new URL(page.url()).searchParams.get('filters')).toBe(`[${ofRows},${ofMetric}]`)
    expect(await cards()).toEqual(pick((await read('/stats/overview', `days=90&filters=[${ofRows}]`)).totals))
    const { data } = await read('/reports', `group_by=campaign&days=90&limit=50&filters=[${ofRows},${ofMetric}]`)
    expect(await texts('.area-drill-down tbody th')).toEqual(data.map((row) => row.name ?? row.id))
    await panel('Funnel').getByText('they are left out here').waitFor()
    await page.getByRole('button', { name: 'Remove the filter Operating' }).click()
    expect(new URL(page.url()).searchParams.get('filters')).toBe(`[${ofMetric}]`)
  })

  it('lists campaigns that cost without a conversion first by CPA, shows shares, and orders days by time', async () => {
    const { page, show, settle, read } = explorer
    const search = 'group_by=campaign,country&range=yesterday'
    await show(`?${search}&sort=-cpa&columns=cost,cpa&share=total`)
    const all = (await read('/reports', `${search}&limit=1000&sort=-cpa`)).data
    const spenders = all.filter(({ cost = 0, conversions }) => cost > 0 && conversions === 0)
    expect(spenders.length).toBeGreaterThan(0)
    const first = spenders.toSorted((a, b) => Number(b.cost) - Number(a.cost)).map(({ cost }) => cost?.toFixed(2))
    const costs = page.locator('.area-drill-down tbody td[data-metric=cost] .count-link')
    const shown = async () => (await costs.allTextContents()).slice(0, first.length).map((text) => text.slice(1))
    await expect.poll(shown).toEqual(first.slice(0, 50))
    expect(await page.getByLabel('Share of the total').isDisabled(), 'a ratio has no share').toBe(true)
    await show('?group_by=country&share=total')
    const shares = await texts('.area-drill-down tbody td[data-metric=clicks] + td')
    expect(shares.reduce((sum, text) => sum + Number.parseFloat(text), 0)).toBeCloseTo(100, 0)
    await panel('Drill-down').getByLabel('Group by').selectOption('weekday')
    await settle()
    expect(query()).toBe('?group_by=weekday&sort=id&share=total')
    await explorer.openMenu('page')
    await page.getByLabel('Numbers in CSV').selectOption('comma')
    const started = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download CSV of Drill-down' }).click()
    const csv = await readFile((await (await started).path()) ?? '', 'utf8')
    expect(csv).toMatch(/^\uFEFF"weekday_id";"weekday_name";"clicks";.*\n"1";"[^"]*";\d+;\d+;\d+,\d/)
    expect(query()).toBe('?group_by=weekday&sort=id&share=total&csv_decimal=comma')
  })

  const panels = [
    ['Totals', '/stats/overview', []],
    ['Time series', '/stats/daily', ['long']],
    ['Drill-down', '/reports', []],
    ['Latest conversions', '/conversions', ['long']],
    ['Funnel', '/funnels', ['long']],
  ] as const

  it('reads the numbers again each minute until it is paused, and then too after midnight, with the dates of the new day', async () => {
    const other = await explorer.page.context().newPage()
    await other.clock.install({ time: testNowMs })
    await other.goto(`${explorer.url}/explore?range=yesterday&tz=UTC#key=${explorer.key}`)
    const rows = other.locator('.area-drill-down .count-link').first()
    await rows.waitFor()
    const paths: string[] = []
    other.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (searchParams.get('range') === 'yesterday' && !searchParams.has('bots'))
        paths.push(pathname.slice('/api/v1'.length))
    })
    const reads = () => paths.filter((path) => path === '/stats/overview').length
    await other.clock.fastForward(60_000)
    await expect.poll(reads).toBe(1)
    await other.locator('.top [popovertarget]').click()
    await other.getByLabel('every minute').uncheck()
    await other.clock.fastForward(600_000)
    await other.getByRole('button', { name: 'Refresh' }).click()
    await expect.poll(reads).toBe(2)
    await expect.poll(() => other.locator('[aria-busy=true]').count()).toBe(0)
    paths.length = 0
    await other.clock.fastForward(86_400_000)
    // Anything that draws the page.
    await rows.click()
    await expect.poll(() => paths).toEqual(expect.arrayContaining(panels.map(([, path]) => path)))
    await other.close()
  })

  it('reads a funnel with the steps, the unit and the window that are chosen', async () => {
    const { show, read } = explorer
    await show('?range=90d&steps=visit,signup,purchase&by=click&window=30d&funnel_by=device')
    await panel('Funnel').getByRole('button', { name: 'Steps of clicks within 30 days' }).waitFor()
    const { steps } = await read('/funnels', 'days=90&steps=visit,signup,purchase&by=click&window=30d')
    expect(steps[1]?.entered).toBeGreaterThan(0)
    expect((await texts('[data-entered]')).map((text) => Number(text.replace(',', '')))).toEqual(
      steps.map(({ entered }) => entered),
    )
    const grouped = await read('/funnels', 'days=90&steps=visit,signup,purchase&by=click&window=30d&group_by=device')
    expect(await texts('.area-funnel tbody td:nth-child(2)')).toEqual(
      grouped.data?.map((group) => group.steps[0]?.entered.toLocaleString('en-US')),
    )
  })

  for (const [title, path, tags] of panels) {
    it.skipIf(!isInstalled('curl'))(
      `gives the request of a panel as a command that works, and its numbers as CSV: ${title}`,
      { tags: [...tags] },
      async () => {
        const { page, show, key, read } = explorer
        if (query() !== '?country=US') await show('?country=US')
        await page.getByRole('button', { name: `Copy as curl of ${title}` }).click()
        await expect.poll(copied).toContain(`${path}?`)
        const command = await copied()
        expect(command).not.toContain(key)
        const { stdout } = await promisify(execFile)('sh', ['-c', command], {
          env: { ...process.env, TRIBUTARY_KEY: key },
        })
        const search = new URL(/'([^']*)'/.exec(command)?.[1] ?? '').search.slice(1)
        const printed = JSON.parse(stdout)
        const started = page.waitForEvent('download')
        await page.getByRole('button', { name: `Download CSV of ${title}` }).click()
        const csv = await readFile((await (await started).path()) ?? '', 'utf8')
        expect(csv[0]).toBe('\uFEFF')
        const lines = csv.trimEnd().split(/\r?\n/)
        const { data, totals, steps, previous } = printed
        const { asOf: _now, ...response } = await read(path, search)
        expect(printed).toMatchObject(response)
        if (title === 'Totals') {
          expect(lines[1]).toBe(`"clicks",${totals.clicks},${previous.totals.clicks}`)
          expect(lines).toHaveLength(1 + Object.keys(totals).length)
        } else if (title === 'Funnel') expect(lines[1]).toBe(`"(total)","click",${steps[0].entered},,100,`)
        else if (title === 'Drill-down') expect(lines.at(-1)).toContain(`(total)",,${totals.clicks},`)
        else expect(lines.length).toBeGreaterThan(Math.min(20, data.length))
        await panel(title).getByText('.csv is downloaded').waitFor()
      },
    )
  }
})
