import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { hasChromium } from '../kit/chromium.ts'
import { useOpened } from '../kit/fixtures.ts'
import { openExplorer } from './browser.ts'

interface Cell {
  dataset: { metric: string }
  title: string
  firstChild: { textContent: string }
}

describe.skipIf(!hasChromium())('the page /explore in a browser', { timeout: 120_000 }, () => {
  const explorer = useOpened(openExplorer)
  afterEach(() => expect(explorer.problems.splice(0)).toEqual([]))

  const panel = (name: string) => explorer.page.getByRole('region', { name, exact: true })
  const query = () => new URL(explorer.page.url()).search
  const texts = (selector: string) => explorer.page.locator(selector).allTextContents()
  const cells = (selector: string) =>
    explorer.page
      .locator(selector)
      .evaluateAll((all: Cell[]) =>
        all.map(({ dataset, title, firstChild }) => [dataset.metric, title, firstChild.textContent]),
      )
  /** The exact totals of the cards, by metric. */
  const cards = async () =>
    Object.fromEntries((await cells('.card-value')).map(([metric, title]) => [metric, Number(title)]))
  const shownIn = async (selector: string) =>
    Object.fromEntries((await cells(selector)).map(([metric, _title, text]) => [metric, text]))
  const cardMetrics = ['clicks', 'conversions', 'revenue', 'profit', 'roi', 'epc']
  const pick = (values: Record<string, unknown>) => Object.fromEntries(cardMetrics.map((name) => [name, values[name]]))

  /** Checks that all panels show the numbers of the API for a selection. */
  async function expectNumbers(selection: string, interval = 'day'): Promise<void> {
    const { read } = explorer
    const overview = await read('/stats/overview', selection)
    expect(await cards()).toEqual(pick(overview.totals))
    expect(pick(await shownIn('.area-drill-down tfoot td'))).toEqual(await shownIn('.card-value'))
    const report = await read('/reports', `group_by=campaign&${selection}`)
    expect(await texts('.area-drill-down tbody th')).toEqual(report.data.map((row) => row.name ?? row.id))
    const integers = (list: string[]) => list.map((text) => Number(text.replaceAll(',', '')))
    expect(integers(await texts('.area-drill-down tbody td[data-metric=conversions]'))).toEqual(
      report.data.map(({ conversions }) => conversions),
    )
    const daily = await read('/stats/daily', `${selection}&interval=${interval}`)
    expect(integers(await texts('.area-series tbody td:nth-child(2)'))).toEqual(daily.data.map(({ clicks }) => clicks))
    const funnel = await read('/funnels', `steps=click,conversion&${selection}`)
    expect(integers(await texts('[data-entered]'))).toEqual(funnel.steps.map(({ entered }) => entered))
    const { from, to } = overview
    const filters = selection.replace(/(^|&)(days|tz|from|to)=[^&]*/g, '')
    const conversions = await read('/conversions', `limit=20&from=${from}&to=${to}${filters}`)
    expect(await texts('.area-conversions .status')).toEqual(conversions.data.map(({ status }) => status))
  }

  it('takes the key of a link out of the address, and sends it to this server only', async () => {
    const { page, open, key, requests, url } = explorer
    await open('?range=7d')
    expect(page.url()).toBe(`${url}/explore?range=7d`)
    expect(await page.evaluate('sessionStorage.getItem("tributary-key")')).toBe(key)
    expect(requests.length).toBeGreaterThan(4)
    for (const request of requests)
      expect([request.url().includes(key), request.headers().authorization]).toEqual([false, `ApiKey ${key}`])
    await page.reload()
    await explorer.settle()
    expect((await texts('.account')).join()).toBe('demo')
  })

  it('shows the numbers of the API in every panel, and the same ones', async () => {
    await explorer.open()
    await expectNumbers('days=30&tz=UTC')
    await explorer.open('?range=7d&tz=Australia/Adelaide&country=US&device=!tablet')
    await expectNumbers('days=7&tz=Australia/Adelaide&country=US&device=!tablet')
    await explorer.open('?range=yesterday')
    await expectNumbers('from=2026-11-20&to=2026-11-20&tz=UTC', 'hour')
  })

  it('changes range, zone and comparison; the address has them, and the back button returns', async () => {
    const { page, open, settle, read } = explorer
    await open()
    await page.getByRole('radio', { name: '7 days' }).check()
    await settle()
    expect(query()).toBe('?range=7d')
    await page.getByRole('combobox', { name: 'Time zone' }).selectOption('Australia/Adelaide')
    await page.getByLabel('Compare with').selectOption('previous_year')
    await settle()
    expect(query()).toBe('?range=7d&tz=Australia%2FAdelaide&compare=previous_year')
    await expectNumbers('days=7&tz=Australia/Adelaide')
    const { previous } = await read('/stats/overview', 'days=7&tz=Australia/Adelaide&compare=previous_year')
    expect(await page.locator('.card-change').first().textContent()).toContain(`vs. ${previous?.totals.clicks}`)
    await page.getByLabel('Compare with').selectOption('none')
    await settle()
    expect(await page.locator('.change').count()).toBe(0)
    await page.getByRole('radio', { name: 'Custom' }).check()
    await page.getByLabel('From').fill('2026-11-01')
    await page.getByLabel('To', { exact: true }).fill('2026-11-10')
    await settle()
    await expectNumbers('from=2026-11-01&to=2026-11-10&tz=Australia/Adelaide')
    await page.goBack()
    await page.goBack()
    await page.goBack()
    await expect.poll(query).toBe('?range=7d&tz=Australia%2FAdelaide&compare=none')
    await settle()
    await expectNumbers('days=7&tz=Australia/Adelaide')
  })

  it('draws two chosen metrics by hour, day or week, with the previous period', async () => {
    const { page, open, settle, read } = explorer
    await open('?range=7d')
    await page.getByLabel('First metric').selectOption('cost')
    await page.getByLabel('Second metric').selectOption('roi')
    for (const interval of ['hour', 'week']) {
      await page.getByLabel('Interval').selectOption(interval)
      await settle()
      const { data } = await read('/stats/daily', `days=7&interval=${interval}&compare=previous_period`)
      const times = (await texts('.area-series tbody th')).map((text) => text.split(' ')[0])
      expect(times).toEqual(data.map(({ id }) => id))
      const roi = await texts('.area-series tbody td:nth-child(5)')
      expect(roi.map((text) => (text === '–' ? null : Number.parseFloat(text.replace(',', ''))))).toEqual(
        data.map(({ previous }) => (typeof previous?.roi === 'number' ? Math.round(previous.roi * 100) / 100 : null)),
      )
    }
    expect(query()).toContain('interval=week&metrics=cost%2Croi')
    expect(await page.locator('.chart canvas').count()).toBe(1)
    await page.locator('.chart .u-over').hover({ position: { x: 500, y: 100 } })
    await expect.poll(() => page.locator('.readout').textContent()).toMatch(/Cost \$.*ROI /)
  })

  it('drills down: groups, sorts, and filters by a row with the pointer or the keyboard', async () => {
    const { page, open, settle, read } = explorer
    await open('?range=90d')
    await panel('Drill-down').getByLabel('then by (2)').selectOption('country')
    await page.getByRole('button', { name: 'Revenue', exact: true }).click()
    await settle()
    expect(query()).toBe('?range=90d&group_by=campaign%2Ccountry&sort=-revenue')
    const report = await read('/reports', 'group_by=campaign,country&days=90&sort=-revenue')
    const rows = page.locator('.area-drill-down tbody tr')
    expect(await texts('[data-count]')).toEqual([`${Math.min(100, report.data.length)} of ${report.bucketCount}`])
    const { campaign, country } = report.data[0]?.dimensions ?? {}
    if (!campaign || !country) throw new Error('no row')
    expect(await rows.first().locator('.name').allTextContents()).toEqual(
      [campaign, country].map(({ id, name }) => name ?? id),
    )
    await rows.first().locator('td[data-metric=cost]').click({ force: true })
    await settle()
    const selection = `days=90&campaign_id=${campaign.id}&country=${country.id}`
    expect(await cards()).toEqual(pick((await read('/stats/overview', selection)).totals))
    await expect.poll(() => texts('.chip .name')).toEqual([campaign.name, country.name ?? country.id])
    await page.getByRole('button', { name: /^Remove the filter Country/ }).click()
    await panel('Drill-down').getByLabel('Group by').selectOption('device')
    await panel('Drill-down').getByLabel('then by (2)').selectOption('')
    await settle()
    await page.getByRole('button', { name: 'mobile', exact: true }).focus()
    await page.keyboard.press('Enter')
    await settle()
    expect(query()).toContain(`campaign_id=${campaign.id}&device=mobile`)
    expect(await cards()).toEqual(
      pick((await read('/stats/overview', `days=90&campaign_id=${campaign.id}&device=mobile`)).totals),
    )
    await page.getByRole('button', { name: 'Remove all' }).click()
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByLabel('Condition').selectOption('not')
    await page.getByLabel('Value', { exact: true }).fill('US')
    await page.keyboard.press('Enter')
    await settle()
    expect(query()).toContain('country=%21US')
    expect(await cards()).toEqual(pick((await read('/stats/overview', 'days=90&country=!US')).totals))
  })

  it.each(['week', 'month,day', 'week,campaign'])(
    'filters by the days that a row has in the range: %s',
    async (groups) => {
      const { page, open, settle, read } = explorer
      const report = await read('/reports', `group_by=${groups}&days=30&sort=id`)
      await open(`?group_by=${groups}&sort=id`)
      await page.locator('.area-drill-down tbody button').first().click()
      await settle()
      expect((await cards()).clicks).toBe(report.data[0]?.clicks)
    },
  )

  it('reads nothing for a date while its year is typed', async () => {
    const { page, open, settle, requests, read } = explorer
    await open('?from=2026-11-01&to=2026-11-10')
    await page.getByLabel('From').focus()
    await page.keyboard.type('10152026')
    await settle()
    expect(query()).toBe('?from=2026-10-15&to=2026-11-10')
    const years = requests.map((request) => new URL(request.url()).searchParams.get('from')?.slice(0, 4) ?? '2026')
    expect(new Set(years)).toEqual(new Set(['2026']))
    expect((await cards()).clicks).toBe((await read('/stats/overview', 'from=2026-10-15&to=2026-11-10')).totals.clicks)
  })

  it('keeps the focus when filters are added and removed by keyboard', async () => {
    const { page, open, settle } = explorer
    const focused = () =>
      page.evaluate<string>('document.activeElement.ariaLabel ?? document.activeElement.textContent')
    await open()
    await page.getByRole('button', { name: 'Add filter' }).press('Enter')
    await expect.poll(focused).toBe('Dimension')
    await page.getByLabel('Value', { exact: true }).fill('US')
    await page.keyboard.press('Enter')
    await expect.poll(focused).toBe('Add filter')
    await settle()
    await page.getByRole('button', { name: /^Remove the filter Country/ }).press('Enter')
    await expect.poll(focused).toBe('Filters')
    await settle()
    expect(query()).toBe('')
  })

  it('reads a funnel with the steps, the unit and the window that are chosen', async () => {
    const { page, open, settle, read } = explorer
    await open('?range=90d&steps=visit,signup')
    await page.getByRole('button', { name: 'Add step' }).click()
    await page.getByLabel('Step 3', { exact: true }).fill('purchase')
    await page.keyboard.press('Enter')
    await panel('Funnel').getByLabel('Count').selectOption('click')
    await panel('Funnel').getByLabel('within').selectOption('30d')
    await settle()
    const { steps } = await read('/funnels', 'days=90&steps=visit,signup,purchase&by=click&window=30d')
    expect(steps[1]?.entered).toBeGreaterThan(0)
    expect((await texts('[data-entered]')).map((text) => Number(text.replace(',', '')))).toEqual(
      steps.map(({ entered }) => entered),
    )
    await page.getByRole('button', { name: 'Remove step 2' }).click()
    await page.getByRole('button', { name: 'Apply steps' }).click()
    await settle()
    expect(query()).toContain('steps=visit%2Cpurchase')
  })

  const paths = {
    Totals: '/stats/overview',
    'Time series': '/stats/daily',
    'Drill-down': '/reports',
    'Latest conversions': '/conversions',
    Funnel: '/funnels',
  } as const
  it.each(Object.keys(paths) as (keyof typeof paths)[])(
    'gives the request of a panel as a command that works, and its numbers as CSV: %s',
    async (title) => {
      const { page, open, key, read } = explorer
      if (query() !== '?country=US') await open('?country=US')
      await page.getByRole('button', { name: `Copy as curl of ${title}` }).click()
      await panel(title).getByText('The command is in the clipboard').waitFor()
      const command = await page.evaluate<string>('navigator.clipboard.readText()')
      expect(command).not.toContain(key)
      const { stdout } = await promisify(execFile)('sh', ['-c', command], {
        env: { ...process.env, TRIBUTARY_KEY: key },
      })
      const search = new URL(/'([^']*)'/.exec(command)?.[1] ?? '').search.slice(1)
      const printed = JSON.parse(stdout)
      const started = page.waitForEvent('download')
      await page.getByRole('button', { name: `Download CSV of ${title}` }).click()
      const csv = await readFile((await (await started).path()) ?? '', 'utf8')
      const lines = csv.trimEnd().split(/\r?\n/)
      const { data, totals, steps, previous } = printed
      const { asOf: _now, ...response } = await read(paths[title], search)
      expect(printed).toMatchObject(response)
      if (title === 'Totals') expect(lines[1]).toBe(`clicks,${totals.clicks},${previous.totals.clicks}`)
      else if (title === 'Funnel') expect(lines[1]).toBe(`click,${steps[0].entered},,100,`)
      else if (title === 'Drill-down') expect(lines.at(-1)).toContain(`(total)",,${totals.clicks},`)
      else expect(lines.length).toBeGreaterThan(Math.min(20, data.length))
      await panel(title).getByText('.csv is downloaded').waitFor()
    },
  )
})
