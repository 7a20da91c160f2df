import { type Browser, chromium, type Page } from 'playwright-core'
import { fileOf, isInstalled } from './isInstalled.ts'

/** Debian's Chromium without a window system takes half of the CPU of the whole browser. */
const program = fileOf('chromium-headless-shell')

export const hasChromium = () => isInstalled('chromium-headless-shell')

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Starts a browser without a window, which sends no requests of its own. */
export function startChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: program, args: flags })
}

/** Makes a browser refuse to keep data, as Chromium does if the user blocks cookies, and name a time zone that it does not know. */
export const refusal = `
  for (const name of ['localStorage', 'sessionStorage'])
    Object.defineProperty(window, name, { get() { throw new DOMException('Access is denied', 'SecurityError') } })
  const { resolvedOptions } = Intl.DateTimeFormat.prototype
  Intl.DateTimeFormat.prototype.resolvedOptions = function () {
    return { ...resolvedOptions.call(this), timeZone: 'Etc/Unknown' }
  }`

/**
 * @returns the elements that make a page wider than its window, none if it fits. A page moves parts while it loads, so a test
 *   polls for the final layout
 */
export function partsBeyond(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    if (scrollWidth <= clientWidth) return []
    const wide = [...document.querySelectorAll('body *')].filter((part) => part.getBoundingClientRect().right > clientWidth)
    return wide.map((part) => part.tagName + '.' + part.className + ': ' + part.getBoundingClientRect().right).slice(0, 30)
  })()`)
}

/** Collects the errors and warnings of a page, among them failed responses, and its requests to other hosts. @returns the list, which grows */
export function watchProblems(page: Page, origin: string): string[] {
  const problems: string[] = []
  page.on('console', (line) => {
    if (line.type() === 'error' || line.type() === 'warning') problems.push(`${line.type()}: ${line.text()}`)
  })
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`))
  page.on('request', (request) => {
    const target = new URL(request.url())
    const isOther = !['data:', 'blob:'].includes(target.protocol) && target.origin !== origin
    if (isOther) problems.push(`request to ${target.origin}`)
  })
  return problems
}
