import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { start } from '../../cli/runCommand.ts'
import { freePort } from '../../kit/serverProcess.ts'
import type { CrashAccount } from './crashAccount.ts'
import type { CrashStores } from './crashStores.ts'
import type { Hold } from './holdingProxy.ts'
import { openStoreProxies } from './storeProxies.ts'

const lookUp = /^POST [\s\S]*SELECT[\s\S]*pixel_events/
const insert = /^POST [^ ]*INSERT(?:\+|%20)INTO(?:\+|%20)pixel_events\b/

/** Every step of an event. What is held reaches ClickHouse after another server has stored the event. */
export const eventPauseSteps = {
  'before the look-up': { request: lookUp, keeps: 'request' },
  'between look-up and insert': { request: lookUp, keeps: 'response' },
  'while the insert is on its way': { request: insert, keeps: 'request' },
  'while the row of the insert is on its way': { request: insert, keeps: 'body' },
  'after the insert': { request: insert, keeps: 'response' },
} as const satisfies Record<string, Hold>

/**
 * Stops the process of a server at each step of an event, has the event sent to another server, and lets the first one go on.
 * @param click a stored one, which the events belong to
 * @param pauseMs for how long it is stopped at least
 * @returns what was wrong with its responses, empty when nothing was
 */
export async function pauseServer(
  stores: CrashStores,
  account: CrashAccount,
  click: number,
  steps: Readonly<Record<string, Hold>>,
  pauseMs = 0,
): Promise<string[]> {
  const proxies = await openStoreProxies(stores)
  const port = await freePort()
  const child = start(['serve', '--json'], { ...proxies.environment, PORT: `${port}` })
  child.stderr.resume()
  const exited = once(child, 'exit')
  const faults: string[] = []
  try {
    await Promise.race([once(child.stdout, 'data'), exited])
    for (const [name, step] of Object.entries(steps)) {
      const id = `paused ${name}`.replaceAll(' ', '-')
      const held = proxies.clickhouse.hold(step)
      const response = fetch(`http://127.0.0.1:${port}/api/v1/events`, {
        method: 'POST',
        headers: { authorization: `ApiKey ${account.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ click_id: `click-${click}`, event_name: 'paid', event_id: id, value: 1 }),
      })
      const early = await Promise.race([held, response])
      if (early) throw new Error(`${name}: answered before it was paused: ${early.status} ${await early.text()}`)
      child.kill('SIGSTOP')
      await Promise.all([account.sendEvent(click, id), sleep(pauseMs)])
      proxies.clickhouse.release()
      child.kill('SIGCONT')
      const { status } = await response
      if (status !== 200 && status !== 503) faults.push(`${name}: answered ${status}`)
    }
    return faults
  } finally {
    child.kill('SIGKILL')
    await exited
    await proxies.close()
  }
}
