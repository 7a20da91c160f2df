import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApp, type TestApp } from '../kit/app.ts'
import { storeClicks } from '../kit/rows.ts'

const chromiumPath = '/usr/bin/chromium'
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const isMissing = !existsSync(chromiumPath)
if (isMissing && !process.env.CI) {
  console.warn(`The explorer is not tested: there is no ${chromiumPath} (Debian: apt-get install chromium).`)
}

// A page of everything opened takes a busy machine a while.
describe.skipIf(isMissing && !process.env.CI)('the explorer in a browser', { timeout: 120_000 }, () => {
  let api: TestApp
  let browser: Browser
  let page: Page
  let url: string
  /** What the page complained of, and whom else it asked. */
  const complaints: string[] = []

  beforeAll(async () => {
    expect(existsSync(chromiumPath), `${chromiumPath} is needed here (Debian: apt-get install chromium)`).toBe(true)
    api = await openTestApp()
    url = await api.app.listen({ host: '127.0.0.1', port: 0 })
    browser = await chromium.launch({ executablePath: chromiumPath, args: flags })
    page = await browser.newPage({ viewport: { width: 1280, height: 1000 } })
    page.on('console', (line) => {
      if (line.type() === 'error' || line.type() === 'warning') complaints.push(`${line.type()}: ${line.text()}`)
    })
    page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`))
    page.on('request', (request) => {
      const asked = new URL(request.url())
      if (asked.protocol !== 'data:' && asked.origin !== url) complaints.push(`asked ${asked.origin}`)
    })
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`)
    })
    await page.goto(`${url}/api/v1/docs`)
    await page.locator('.opblock').first().waitFor()
  })
  afterAll(async () => {
    await browser?.close()
    await api?.close()
  })

  it('shows every call of the document under its resource', async () => {
    const document = (await api.get('/docs/json')).json<{
      tags: { name: string }[]
      paths: Record<string, Record<string, { tags: string[] }>>
    }>()
    const wanted = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { tags }]) => `${tags[0]}: ${method.toUpperCase()} ${path}`),
    )
    const shown: string[] = []
    for (const section of await page.locator('.opblock-tag-section').all()) {
      const tag = await section.locator('.opblock-tag').getAttribute('data-tag')
      for (const call of await section.locator('.opblock-summary').all()) {
        const method = await call.locator('.opblock-summary-method').innerText()
        const path = await call.locator('.opblock-summary-path').getAttribute('data-path')
        shown.push(`${tag}: ${method} ${path}`)
      }
    }
    expect(wanted.length).toBeGreaterThan(3)
    expect(shown.sort()).toEqual(wanted.sort())
  })

  it('has calls to paste that go to this very server', async () => {
    const shown = await page.locator('.info').innerText()
    expect(shown).toContain(`'${url}/api/v1/reports?group_by=campaign&days=7'`)
    expect(shown.match(/http:\/\/127\.0\.0\.1:\d+/g)?.every((address) => address === url)).toBe(true)
  })

  it('carries its own title and nobody else’s', async () => {
    expect(await page.title()).toBe('Tributary API')
    expect(await page.locator('.info .title').innerText()).toMatch(/^Tributary API/)
    expect(await page.locator('.topbar').count()).toBe(0)
    expect(await page.getByText('Getting started').count()).toBe(1)
  })

  it('shows real rows for a call made with a pasted key', async () => {
    const key = await api.account('acme')
    await storeClicks(api.stores, 'acme', [
      { id: 'clk-shown', clicked_at: '2026-11-20 10:00:00.000', campaign_id: 'cmp-a', country: 'DE' },
    ])
    await page.locator('button.authorize').click()
    await page.locator('.auth-container input').fill(key)
    await page.locator('.auth-container button.authorize').click()
    await page.locator('.auth-container button.btn-done').click()
    const call = page.locator('#operations-Clicks-getClicks')
    await call.locator('.opblock-summary-control').click()
    await call.getByRole('button', { name: 'Execute' }).click()
    const answer = call.locator('.live-responses-table')
    await answer.locator('.response-col_status', { hasText: '200' }).waitFor()
    expect(await answer.locator('tbody .response-col_description').first().innerText()).toContain('clk-shown')
    expect(await call.locator('.curl-command').innerText()).toContain(`Authorization: ApiKey ${key}`)
  })

  it('opens every call without a complaint and without asking another host', async () => {
    await page.evaluate(
      `document.querySelectorAll('.opblock:not(.is-open) .opblock-summary-control').forEach((call) => call.click())`,
    )
    await expect.poll(() => page.locator('.opblock:not(.is-open)').count(), { timeout: 60_000 }).toBe(0)
    expect(complaints).toEqual([])
  })
})
