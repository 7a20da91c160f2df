// @module-tag all

import type { Locator } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { hasChromium } from '../kit/chromium.ts'
import { useOpened } from '../kit/fixtures.ts'
import { openExplorer } from './browser.ts'

/**
 * What is done in the view of an address: a control, keys, and what the page shows then.
 * A control is its role and its name, with its panel before a `>`. Keys are names of keys, and texts in quotes.
 */
const walks: Record<string, [control: string, keys: string, shown: RegExp][]> = {
  '?group_by=device': [
    ['Range > menu', 'Enter', /open=.*Last 30 days/],
    ['button Last 90 days', 'Enter', /range=90d.*open=none.*focus=Last/],
    ['Range > menu', 'Enter', /open=.*Last 90 days/],
    ['textbox From', '"10152026" Tab', /from=2026-10-15&to=2026-11-21/],
    ['combobox Compare with', 'ArrowDown', /compare=previous_year/],
    ['checkbox Count conversions by click time', 'Space', /count_at=click.*by click time/],
    ['checkbox Count conversions by click time', 'Escape', /open=none/],
    ['Page > menu', 'Enter', /open=Menu/],
    ['combobox Time zone', '"Europe/Berlin" Enter', /tz=Europe\/Berlin/],
    ['button Copy link', 'Enter', /note=.*The link of this view/],
    ['checkbox every minute', 'Space', /repeated=false/],
    ['button Refresh', 'Enter', /focus=Refresh/],
    ['Totals > button Download CSV of Totals', 'Enter', /note=.*totals-.*downloaded/],
    ['Totals > button Copy as curl of Totals', 'Enter', /note=.*The command is in the clipboard/],
  ],
  '?range=90d': [
    // Dimension, condition, value; then the values that were found.
    ['button Add filter', 'Enter Tab ArrowDown Tab "United"', /focus=Value/],
    ['checkbox United States', 'Space', /columns=9/],
    ['checkbox United Kingdom', 'Space Enter', /country=!..,..&.*focus=Filters/],
    ['button Add filter', 'Enter Tab Tab "(not set)" Enter', /country=!..,..,\(not set\)/],
    ['Drill-down > menu', 'Enter', /open=Columns/],
    ['Drill-down > combobox A row leads to', '"Br" Escape', /next=browser/],
    ['Drill-down > row', 'Enter', /group_by=browser.*campaign_id=.*focus=Chrome/],
    ['Drill-down > row', 'Enter', /browser=.*focus=mobile/],
    ['Filters > button Campaign', 'Enter', /group_by=browser.*country=!..,..,\(not set\)&campaign_id=[^&]*&tz/],
    ['Filters > button Remove the filter Campaign', 'Enter', /country=[^&]*&tz.*focus=Filters/],
    ['Filters > button Remove the filter Country', 'Enter', /range=90d&group_by=browser&next=browser&tz/],
    ['Drill-down > combobox Group by', 'Home', /\?range=90d&next=browser&tz/],
    ['Drill-down > menu', 'Enter', /open=Columns/],
    ['Drill-down > combobox Then by', '"Cou"', /group_by=campaign,country&/],
    ['Drill-down > combobox And by', '"Dev" Escape', /group_by=campaign,country,device/],
    ['Drill-down > button Next page', 'Enter', /offset=50/],
    ['Drill-down > menu', 'Enter', /open=Columns/],
    ['Drill-down > spinbutton Min. clicks', '"3" Enter', /min_clicks=3/],
    ['Drill-down > checkbox EPC', 'Space Escape', /columns=7/],
    ['Drill-down > button Revenue', 'Enter', /sort=-revenue.*sorted=descending/],
    ['Drill-down > menu', 'Enter', /open=Columns/],
    ['Drill-down > checkbox Order by change', 'Space', /sort=-change.revenue.*sorted=descending/],
    ['Drill-down > searchbox Search the rows', '"tablet"', /rows have this text/],
    ['Drill-down > number', 'Enter', /dialog=[\d,]+ Clicks: .*focus=(Close|Back)/],
    ['dialog row', 'Enter', /dialog=Journey focus=Details/],
    ['button Back', 'Enter', /dialog=[\d,]+ Clicks: .*focus=Details/],
    ['button Close', 'Escape', /dialog=none focus=.*show the rows/],
  ],
  '?group_by=weekday,hour_of_day': [
    ['Drill-down > combobox Metric (average of the days)', 'ArrowDown', /sort=-conversions/],
    ['Totals > card Conversions', 'Enter', /metrics=revenue,conversions/],
    ['Totals > card Revenue', 'Enter', /metrics=conversions&/],
    ['Totals > button All totals', 'Enter', /focus=Fewer totals/],
    ['Time series > combobox Split by', '"Dev"', /series_by=device/],
    ['Time series > combobox Interval', 'ArrowDown', /interval=week/],
    ['Time series > summary Values', 'Enter', /values=open/],
    ['Funnel > menu', 'Enter', /open=Steps/],
    ['Funnel > combobox Count', 'ArrowDown', /by=click/],
    ['Funnel > combobox within', 'ArrowDown', /window=30d/],
    ['Funnel > combobox Split by', '"Dev"', /funnel_by=device/],
    ['Funnel > combobox Step 3', '"purchase" Enter', /steps=click,conversion,purchase/],
    ['Funnel > combobox Step 2', 'Control+a Delete Enter', /steps=click,purchase.*focus=Steps of the funnel/],
    ['Latest conversions > row', 'Enter', /dialog=Journey/],
    ['button Close', 'Enter', /dialog=none focus=.*show the journey/],
  ],
}

describe.skipIf(!hasChromium())('the page /explore by keyboard alone', () => {
  const explorer = useOpened(openExplorer)
  afterEach(() => expect(explorer.problems.splice(0)).toEqual([]))

  function find(control: string): Locator {
    const { page } = explorer
    const [, panel, role = '', name = ''] = /^(?:(.*) > )?(\w+) ?(.*)$/.exec(control) ?? []
    const menus: Record<string, string> = { Range: '.filters', Page: '.top' }
    const region = page.getByRole('region', { name: panel ?? '', exact: true })
    const place = panel ? (menus[panel] ? page.locator(menus[panel]) : region) : page.locator('body')
    if (control === 'dialog row') return page.locator('dialog button.row').first()
    if (role === 'row') return place.locator('button.row').first()
    if (role === 'number') return place.locator('tbody .count-link').first()
    if (role === 'card') return place.locator('.card', { hasText: name }).first()
    if (role === 'menu') return place.locator('[popovertarget]').first()
    if (role === 'summary') return place.locator('summary', { hasText: name }).first()
    if (panel === 'Filters') return place.getByRole('button', { name: new RegExp(`^${name}`) })
    if (role === 'textbox') return place.getByLabel(name, { exact: true })
    return place.getByRole(role as 'button', { name, exact: true })
  }

  async function press(keys: string): Promise<void> {
    const { page } = explorer
    for (const [, text, key = ''] of keys.matchAll(/"([^"]*)"|(\S+)/g))
      await (text === undefined ? page.keyboard.press(key) : page.keyboard.type(text))
  }

  async function shown(): Promise<string> {
    const { page } = explorer
    const parts = await page.evaluate<string>(`(() => {
      const text = (selector) => document.querySelector(selector)?.textContent ?? ''
      const focused = document.activeElement
      const named = focused.getAttribute('aria-labelledby')
      const label = named ? document.getElementById(named).textContent : focused.ariaLabel ?? focused.textContent
      const dialog = document.querySelector('dialog') ? text('dialog h2') : 'none'
      return 'note=' + [...document.querySelectorAll('.note')].map((note) => note.textContent).join('') +
        ' repeated=' + document.querySelector('nav input').checked + ' ' + text('.table-foot') +
        ' values=' + (document.querySelector('.area-series details')?.open ? 'open' : 'closed') +
        ' sorted=' + document.querySelector('.area-drill-down [aria-sort]')?.ariaSort +
        ' open=' + (document.querySelector('.popup:popover-open')?.previousElementSibling.textContent ?? 'none') +
        ' columns=' + document.querySelectorAll('.choices :checked').length + ' dialog=' + dialog + ' focus=' + label
    })()`)
    return `${decodeURIComponent(new URL(page.url()).search).replaceAll('+', ' ')} ${parts}`
  }

  for (const [view, steps] of Object.entries(walks)) {
    // The last walk is the short form.
    it(`does everything that the pointer does: ${view}`, {
      tags: view.includes('weekday') ? [] : ['long'],
    }, async () => {
      const { show, settle } = explorer
      await show(view)
      for (const [control, keys, expected] of steps) {
        const target = find(control)
        await target.waitFor()
        // Tab reaches it.
        expect(await target.evaluate(({ tabIndex }: { tabIndex: number }) => tabIndex), control).toBe(0)
        await target.focus()
        await press(keys)
        await expect.poll(shown, { message: `${control} ${keys}` }).toMatch(expected)
        await settle()
      }
    })
  }

  it('leads from a fresh page to the numbers of the first row with four keys, and to the totals with three', async () => {
    const { open, settle } = explorer
    await open()
    await press('Tab Enter')
    const isFirstInSight = `(() => {
      const row = document.querySelector('#drill-down tbody .row')
      const { x, y } = row.getBoundingClientRect()
      return row.contains(document.elementFromPoint(x + 9, y + 9))
    })()`
    await expect.poll(() => explorer.page.evaluate(isFirstInSight)).toBe(true)
    await press('Tab Enter')
    await expect.poll(shown).toMatch(/group_by=country.*campaign_id=/)
    await settle()
    // The rows of the next dimension follow.
    await press('Tab')
    expect(await shown()).toContain(`focus=${await find('Drill-down > row').textContent()}`)
    await open('?campaign_id=none')
    await press('Tab Enter')
    await expect.poll(shown).toMatch(/focus=Drill-down/)
    await open()
    await press('Tab Tab Enter')
    await expect.poll(shown).toMatch(/focus=Totals/)
  })
})
