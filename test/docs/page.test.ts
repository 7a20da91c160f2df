// @module-tag all

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { useTestApp } from '../kit/app.ts'
import { hasChromium, partsBeyond, refusal, startChromium, watchProblems } from '../kit/chromium.ts'
import { makeDemoAccount } from '../kit/demo.ts'

describe.skipIf(!hasChromium())('the documentation page in a browser', () => {
  const api = useTestApp()
  let key: string
  let browser: Browser
  let session: BrowserContext
  let url: string
  /** The tests use one tab: to load and compile the script of the page takes seconds. */
  let page: Page
  let problems: string[]

  beforeAll(async () => {
    key = await makeDemoAccount(api, 'demo', { clicks: 500, days: 7 })
    url = await api.app.listen({ host: '127.0.0.1', port: 0 })
    browser = await startChromium()
    session = await browser.newContext()
    // A busy machine is no failure.
    session.setDefaultTimeout(100_000)
    page = await session.newPage()
    problems = watchProblems(page, url)
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto(`${url}/api/v1/docs`)
    await start().waitFor()
  })
  afterAll(() => browser?.close())
  afterEach(() => expect(problems.splice(0)).toEqual([]))

  const start = () => page.locator('main :is(h1, h2, h3)', { hasText: /^\s*Start\s*$/ }).first()
  const statusOf = (page: Page) => page.locator('#key-status')

  async function enterKey(text: string): Promise<void> {
    await page.locator('#key').fill(text)
    await page.getByRole('button', { name: 'Use key' }).click()
    await statusOf(page).and(page.locator('[data-state=valid], [data-state=invalid]')).waitFor()
  }

  async function execute({ tag, method, path }: Record<'tag' | 'method' | 'path', string>) {
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

  it('paints content before the reference is loaded, and sends no request to another host', async () => {
    // No time limit, which would fail on a busy machine.
    const paints = () => page.evaluate("performance.getEntriesByName('first-contentful-paint').length")
    await expect.poll(paints).toBe(1)
    const text = await page.evaluate<string>('fetch(location.href).then((response) => response.text())')
    expect(text).toContain('Loading the reference')
    // A form without its script would send the key in the address.
    expect(text).toContain('<button type="submit" disabled>')
    expect(problems).toEqual([])
  })

  it('fits a window of 1440 px', () => checkFit(['light']))

  /** @param themes the one that the page was loaded with, and others; the page takes seconds to draw another one */
  async function checkFit(themes: readonly ('light' | 'dark')[]): Promise<void> {
    const code = page.locator('main pre', { hasText: `${url}/api/v1/reports?group_by=campaign&days=7` }).first()
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme })
      await page.locator(`body.${colorScheme}-mode`).waitFor()
      await expect.poll(async () => (await code.boundingBox())?.y).toBeLessThan(900)
      await expect.poll(() => partsBeyond(page)).toEqual([])
    }
    const scrolled = `[...document.querySelectorAll('main pre code')].filter((code) => code.scrollWidth > code.clientWidth).length`
    expect(await page.evaluate(scrolled)).toBe(0)
    expect(await page.title()).toMatch(/Tributary API/)
    await page.goto(`${url}/api/v1/docs#tag/errors`)
    await page.getByRole('heading', { name: 'Errors', exact: true }).first().waitFor()
    await expect.poll(() => partsBeyond(page)).toEqual([])
  }

  it('lists every operation and guide of the document, with samples of curl, JavaScript, Python, PHP and Go', {
    tags: 'long',
  }, async () => {
    await page.setViewportSize({ width: 1440, height: 900 })
    const document = (await api.get('/docs/json')).json<{
      tags: { name: string }[]
      paths: Record<string, Record<string, { summary: string }>>
    }>()
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    expect(operations.length).toBeGreaterThan(15)
    const sidebar = page.locator('aside').first()
    const names = [...document.tags.map(({ name }) => name), ...operations.map(({ summary }) => summary)]
    const missing = async () => {
      await sidebar.locator('[aria-expanded=false]').evaluateAll((groups: { click(): void }[]) => {
        for (const group of groups) group.click()
      })
      const listed = `${await sidebar.textContent()}`
      return names.filter((name) => !listed.includes(name))
    }
    await expect.poll(missing).toEqual([])
    await page
      .getByRole('button', { name: /Shell Curl/ })
      .first()
      .click()
    const offered = (await page.getByRole('option').allTextContents()).join()
    for (const name of ['Curl', 'Fetch', 'Requests', 'cURL', 'NewRequest']) expect(offered).toContain(name)
    await page.keyboard.press('Escape')
  })

  it('shows samples with ApiKey that wrap, parameters of many operations folded, no regular expressions, and guides before operations', async () => {
    await page.goto(`${url}/api/v1/docs#tag/reports/GET/reports`)
    const operation = page.locator('section[id$="tag/reports/GET/reports"]')
    const sample = operation.locator('pre code', { hasText: 'curl' }).first()
    await expect.poll(() => sample.textContent()).toContain('Authorization: ApiKey trb_live_...')
    const code = `document.querySelector('section[id$="tag/reports/GET/reports"] pre code')`
    expect(await page.evaluate(`getComputedStyle(${code}).whiteSpace`)).toBe('pre-wrap')
    const text = `${await operation.textContent()}`
    expect(text).not.toContain('^')
    expect(text).toMatch(/\d{2} parameters of many operations/)
    const shown = async () => (await operation.allInnerTexts()).join()
    expect(await shown()).toContain('group_by')
    expect(await shown()).not.toContain('Only clicks and conversions with one of')
    await operation.locator('details summary').first().click()
    await expect.poll(shown).toContain('Only clicks and conversions with one of')
    await page.goto(`${url}/api/v1/docs#tag/incremental-sync`)
    const texts = 'section[id*="/tag/"] .markdown:not(.truncate)'
    const isCut = '({ clientHeight, scrollHeight }) => scrollHeight > clientHeight + 1'
    expect(await page.evaluate(`[...document.querySelectorAll('${texts}')].filter(${isCut}).length`)).toBe(0)
    await page.goto(`${url}/api/v1/docs#tag/events/GET/journeys`)
    const journey = page.locator('section[id$="tag/events/GET/journeys"] pre code').first()
    await expect.poll(() => journey.textContent()).toContain('visitor_id=')
    await page.goto(`${url}/api/v1/docs#tag/reports/GET/reports`)
    const sidebar = `${await page.locator('aside').first().textContent()}`
    expect(sidebar.indexOf('Drill down')).toBeLessThan(sidebar.indexOf('Operations'))
  })

  it('finds guides and operations by the search, without the Markdown of their texts', { tags: 'long' }, async () => {
    await page.getByRole('search').click()
    const dialog = page.getByRole('dialog', { name: 'Reference Search' })
    await dialog.getByRole('combobox').fill('filter')
    const results = dialog.getByRole('option')
    await results.filter({ hasText: 'Drill down' }).waitFor()
    const shown = (await results.allInnerTexts()).join()
    expect(shown).toContain('/events')
    expect(shown).not.toMatch(/[*`|]/)
    await dialog.getByRole('combobox').fill('send a conversion')
    await results.first().filter({ hasText: 'Send a conversion' }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  it('checks a key with the server, and keeps a valid one until the tab is closed', async () => {
    await enterKey('trb_live_garbage')
    expect(await statusOf(page).textContent()).toContain('The API key is not valid')
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    await expect.poll(() => problems.length, { message: 'the browser reports the refused key' }).toBeGreaterThan(0)
    expect(problems.splice(0).filter((problem) => !problem.includes('401'))).toEqual([])
    await enterKey(key)
    expect(await statusOf(page).textContent()).toMatch(/^demo: \d+ scopes$/)
    const sample = page.locator('section[id$="tag/reports/GET/reports"] pre code').first()
    await expect.poll(() => sample.textContent()).toContain(`Authorization: ApiKey ${key}`)
    const otherTab = await session.newPage()
    await otherTab.goto(`${url}/api/v1/docs/llms.txt`)
    const stored = await otherTab.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])')
    expect(stored).not.toContain(key)
    await otherTab.close()
  })

  it('checks a key in a browser that keeps no data and does not know its time zone', async () => {
    const refused = await session.newPage()
    await refused.addInitScript(refusal)
    await refused.goto(`${url}/api/v1/docs`)
    await refused.locator('main h1').first().waitFor()
    await refused.locator('#key').fill(key)
    await refused.getByRole('button', { name: 'Use key' }).click()
    await statusOf(refused).and(refused.locator('[data-state=valid]')).waitFor()
    await refused.close()
  })

  it('executes requests with the key, without optional parameters that were not selected', {
    tags: 'long',
  }, async () => {
    const event = await execute({ tag: 'events', method: 'POST', path: '/events' })
    // `dry_run` is an optional parameter of events.
    expect(new URL(event.url()).search).toBe('')
    expect(event.request().headers().authorization).toBe(`ApiKey ${key}`)
    expect([event.status(), await event.json()]).toEqual([200, { accepted: true }])
  })

  it('keeps the key in a page that is loaded again, and fits a window of 390 px, also after the theme of the system changes', {
    tags: 'long',
  }, async () => {
    await page.setViewportSize({ width: 390, height: 900 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.goto(`${url}/api/v1/docs#`)
    await page.reload()
    await start().waitFor()
    await statusOf(page).and(page.locator('[data-state=valid]')).waitFor({ state: 'attached' })
    expect(await page.locator('#key').inputValue()).toBe(key)
    await checkFit(['dark', 'light'])
  })
})
