import { type Browser, chromium } from 'playwright-core'

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
