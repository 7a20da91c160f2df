import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Request } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { openResponseCache } from '../../src/http/responseCache.ts'
import type { ReadPath, ResponseOf } from '../../src/packages/client/client.ts'
import { openTestApp, testNowMs } from '../kit/app.ts'
import { startChromium, watchProblems } from '../kit/chromium.ts'
import { makeDemoAccount } from '../kit/demo.ts'
import { randomCasesFactor } from '../kit/randomCases.ts'

const menus = { page: '.top', range: '.filters', table: '.area-drill-down', funnel: '.area-funnel' } as const

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Opens the page in a browser, on a server with a demo account. */
export async function openExplorer() {
  const api = await openTestApp()
  const key = await makeDemoAccount(api, 'demo', { clicks: 4_000, days: 60 })
  // No test stores rows of an account after the page has read them.
  const responseCache = openResponseCache({ ttlMs: 3_600_000 })
  const app = await api.open({ settings: { ...api.stores.settings, EXPLORE: 'on' }, responseCache })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const browser = await startChromium()
  const session = await browser.newContext({
    locale: 'en-US',
    timezoneId: 'America/New_York',
    permissions: ['clipboard-read', 'clipboard-write'],
    viewport: { width: 1440, height: 1000 },
  })
  // A busy machine is no failure.
  session.setDefaultTimeout(60_000)
  const page = await session.newPage()
  await page.clock.setFixedTime(testNowMs)
  const problems = watchProblems(page, url)
  const requests: Request[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/api/v1/') && !pathname.startsWith('/api/v1/docs')) requests.push(request)
  })

  async function settle(): Promise<void> {
    await page.locator('.panels').waitFor()
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  }

  /** Opens a menu if it is not open: of the page, the range, the table or the funnel. */
  async function openMenu(place: keyof typeof menus): Promise<void> {
    if (await page.locator(`${menus[place]} :popover-open`).count()) return
    await page.locator(`${menus[place]} [popovertarget]`).click()
  }

  const linkOf = (query: string, ofKey: string) =>
    `${url}/explore${query}${query.includes('tz=') ? '' : `${query ? '&' : '?'}tz=UTC`}#key=${ofKey}`

  /** Opens a view with a key in the fragment, in UTC unless the query has a time zone, and waits until all panels are loaded. */
  async function open(query = '', ofKey = key): Promise<void> {
    const link = linkOf(query, ofKey)
    requests.length = 0
    // A reload keeps the process of the page with its compiled script; `goto` starts another one.
    if (!page.url().startsWith(url)) await page.goto(link)
    else {
      await page.evaluate(`sessionStorage.clear(); history.replaceState(null, '', ${JSON.stringify(link)})`)
      await page.reload()
    }
    await settle()
  }

  return {
    api,
    key,
    url,
    page,
    problems,
    requests,
    settle,
    openMenu,
    open,
    /** Shows a view as `open` does, but without a load if the page has panels: as the back button does, or a link with another key. */
    async show(query = '', ofKey = key) {
      // TRAP: what the view does not have, such as the chosen totals, stays as it is, unless the key is another one.
      requests.length = 0
      const isShown = await page.evaluate<boolean>(`(() => {
        const panels = document.querySelector('.panels')
        if (!panels || document.querySelector('dialog')) return false
        const isSame = sessionStorage.getItem('tributary-key') === '${ofKey}'
        document.querySelector(':popover-open')?.hidePopover()
        if (!isSame) sessionStorage.clear()
        panels.classList.toggle('replaced', !isSame)
        history.pushState(null, '', ${JSON.stringify(linkOf(query, ofKey))}.split(isSame ? '#' : ' ')[0])
        dispatchEvent(new Event(isSame ? 'popstate' : 'hashchange'))
        return true
      })()`)
      if (!isShown) return await open(query, ofKey)
      await page.locator('.replaced').waitFor({ state: 'detached' })
      await settle()
    },
    /** Opens a page in another session of the browser, which ends with the test. */
    async openOther(locale: string, width: number) {
      const other = await browser.newContext({ locale, viewport: { width, height: 900 } })
      onTestFinished(() => other.close())
      const opened = await other.newPage()
      await opened.clock.setFixedTime(testNowMs)
      return opened
    },
    async read<Path extends ReadPath>(path: Path, search: string): Promise<ResponseOf<Path>> {
      const response = await app.inject({
        url: `/api/v1${path}?${search}`,
        headers: { authorization: `ApiKey ${key}` },
      })
      if (response.statusCode !== 200) throw new Error(response.body)
      return response.json()
    },
    /** @returns what axe-core finds in the page; in the suite only in a part of it if one is given, and in five rows of a table */
    async violations(part = 'html') {
      const isLong = randomCasesFactor > 1
      const where = isLong ? 'html' : { include: [part], exclude: ['tbody tr:nth-child(n + 6)'] }
      await page.evaluate(axeSource)
      const found = await page.evaluate<{ id: string; nodes: { html: string; failureSummary: string }[] }[]>(
        `axe.run(${JSON.stringify(where)}, { resultTypes: ['violations'] })
          .then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes })))`,
      )
      return found.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
      )
    },
    async close() {
      await browser.close()
      await api.close()
    },
  }
}
