import { type Browser, chromium, type Page } from 'playwright-core'

/** Debian's Chromium (`apt-get install chromium`). */
export const chromiumPath = '/usr/bin/chromium'

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
  return chromium.launch({ executablePath: chromiumPath, args: flags })
}

/**
 * Collects the errors and warnings of a page, among them failed responses, and its requests to other hosts.
 * @returns the list, which grows
 */
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
