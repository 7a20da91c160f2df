import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillDemo } from '../../src/demo/fill.ts'
import { planDemo } from '../../src/demo/visits.ts'
import { openTestApp, type TestApp, testNowMs } from '../kit/app.ts'

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
  console.warn(`The documentation page is not tested: there is no ${chromiumPath} (Debian: apt-get install chromium).`)
}

describe.skipIf(isMissing && !process.env.CI)('the documentation page in a browser', { timeout: 120_000 }, () => {
  let api: TestApp
  let key: string
  let browser: Browser
  let url: string

  beforeAll(async () => {
    expect(existsSync(chromiumPath), `${chromiumPath} is needed here (Debian: apt-get install chromium)`).toBe(true)
    api = await openTestApp()
    key = await api.account('demo')
    const account = { id: 'demo', name: 'demo', plan: 'scale', currency: 'USD', createdAt: new Date(testNowMs) }
    const plan = planDemo({ seed: 1, clicks: 500, days: 7, nowMs: testNowMs, currency: 'USD' })
    const signal = new AbortController().signal
    await fillDemo(api.stores, account, plan, { onMessage: () => {}, signal, onProgress: () => {} })
    url = await api.app.listen({ host: '127.0.0.1', port: 0 })
    browser = await chromium.launch({ executablePath: chromiumPath, args: flags })
  })
  afterAll(async () => {
    await browser?.close()
    await api?.close()
  })

  /** Opens the page in a new session. `problems` are its errors and warnings, failed requests, and requests to other hosts. */
  async function open(
    width = 1440,
    colorScheme: 'light' | 'dark' = 'light',
  ): Promise<{ page: Page; problems: string[] }> {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
    const problems: string[] = []
    page.on('console', (line) => {
      if (line.type() === 'error' || line.type() === 'warning') problems.push(`${line.type()}: ${line.text()}`)
    })
    page.on('pageerror', (error) => problems.push(`exception: ${error.message}`))
    page.on('request', (request) => {
      const target = new URL(request.url())
      if (target.protocol !== 'data:' && target.origin !== url) problems.push(`request to ${target.origin}`)
    })
    page.on('response', (response) => {
      if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`)
    })
    await page.goto(`${url}/api/v1/docs`)
    await page.getByRole('heading', { name: 'Start', exact: true }).waitFor()
    return { page, problems }
  }

  const statusOf = (page: Page) => page.locator('#key-status')

  async function enterKey(page: Page, text: string): Promise<void> {
    await page.locator('#key').fill(text)
    await page.getByRole('button', { name: 'Use key' }).click()
    await statusOf(page).and(page.locator('[data-state=valid], [data-state=invalid]')).waitFor()
  }

  /** Opens the form of an operation and sends its request as it is. */
  async function execute(page: Page, { tag, method, path }: Record<'tag' | 'method' | 'path', string>) {
    await page.goto(`${url}/api/v1/docs#tag/${tag}/${method}${path}`)
    const operation = page.locator(`section[id$="tag/${tag}/${method}${path}"]`)
    await operation.getByRole('button', { name: /^Test Request/ }).click()
    const response = page.waitForResponse((received) => new URL(received.url()).pathname === `/api/v1${path}`)
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Send \w+ request to/i })
      .click()
    return await response
  }

  it.each([
    [1440, 'light'],
    [1440, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)(
    'at %d px in the %s theme fits the window and has no errors or requests to other hosts',
    async (width, theme) => {
      const { page, problems } = await open(width, theme)
      expect(await page.title()).toMatch(/Tributary API/)
      expect(await page.locator('body').getAttribute('class')).toContain(`${theme}-mode`)
      const code = page.locator('main pre', { hasText: `${url}/api/v1/reports?group_by=campaign&days=7` })
      expect((await code.first().boundingBox())?.y).toBeLessThan(900)
      const guide = page.getByRole('heading', { name: 'Errors', exact: true })
      await page.goto(`${url}/api/v1/docs#tag/errors`)
      await guide.first().waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      expect(problems).toEqual([])
      await page.close()
    },
  )

  it('lists every operation and guide of the document, with samples of curl, JavaScript, Python and the client', async () => {
    const { page, problems } = await open()
    const document = (await api.get('/docs/json')).json<{
      tags: { name: string }[]
      paths: Record<string, Record<string, { summary: string }>>
    }>()
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    expect(operations.length).toBeGreaterThan(15)
    const sidebar = page.locator('aside').first()
    await sidebar.locator('[aria-expanded=false]').evaluateAll((groups: { click(): void }[]) => {
      for (const group of groups) group.click()
    })
    const names = [...document.tags.map(({ name }) => name), ...operations.map(({ summary }) => summary)]
    const missing = async () => {
      const listed = `${await sidebar.textContent()}`
      return names.filter((name) => !listed.includes(name))
    }
    await expect.poll(missing).toEqual([])
    await page
      .getByRole('button', { name: /Shell Curl/ })
      .first()
      .click()
    const offered = (await page.getByRole('option').allTextContents()).join()
    for (const name of ['Curl', 'Fetch', 'Requests', 'Tributary client']) expect(offered).toContain(name)
    expect(problems).toEqual([])
    await page.close()
  })

  it('checks a key with the server, and keeps a valid one until the tab is closed', async () => {
    const { page } = await open()
    await enterKey(page, 'trb_live_garbage')
    expect(await statusOf(page).textContent()).toContain('The API key is not valid')
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    await enterKey(page, key)
    expect(await statusOf(page).textContent()).toMatch(/^demo: \d+ scopes$/)
    await page.reload()
    await statusOf(page).and(page.locator('[data-state=valid]')).waitFor()
    expect(await page.locator('#key').inputValue()).toBe(key)
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(key)
    await page.close()
    const other = await open()
    expect(await other.page.locator('#key').inputValue()).toBe('')
    await other.page.close()
  })

  it('executes requests with the key, without optional parameters that were not selected', async () => {
    const { page, problems } = await open()
    await enterKey(page, key)
    const conversions = await execute(page, { tag: 'conversions', method: 'GET', path: '/conversions' })
    expect([conversions.status(), new URL(conversions.url()).search]).toEqual([200, ''])
    expect(conversions.request().headers().authorization).toBe(`ApiKey ${key}`)
    expect((await conversions.json()).data.length).toBeGreaterThan(0)
    await page.reload()
    const event = await execute(page, { tag: 'events', method: 'POST', path: '/events' })
    expect([event.status(), await event.json()]).toEqual([200, { accepted: true }])
    expect(problems).toEqual([])
    await page.close()
  })
})
