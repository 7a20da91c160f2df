import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { start } from '../../cli/runCommand.ts'
import { freePort } from '../../kit/serverProcess.ts'
import type { CrashAccount } from './crashAccount.ts'
import type { CrashStores } from './crashStores.ts'
import type { Hold } from './holdingProxy.ts'
import { openStoreProxies } from './storeProxies.ts'

/** The query for stored events with the same id, by its `log_comment`. */
const duplicateLookup = /^POST [^ ]*log_comment=events\.duplicates\b/
const insert = /^POST [^ ]*INSERT(?:\+|%20)INTO(?:\+|%20)pixel_events\b/

/** The steps of storing an event. The held request reaches ClickHouse after another server has stored the event. */
export const eventPauseSteps = {
  'before the duplicate lookup': { request: duplicateLookup, holds: 'request' },
  'between lookup and insert': { request: duplicateLookup, holds: 'response' },
  'before ClickHouse receives the insert': { request: insert, holds: 'request' },
  'between header and row of the insert': { request: insert, holds: 'body' },
  'after the insert': { request: insert, holds: 'response' },
} as const satisfies Record<string, Hold>

/**
 * Pauses a server process at each step of an event, sends the event to another server, and resumes the first one.
 * @param click number of the stored click that the events refer to
 * @param pauseMs minimum duration of each pause
 * @returns faults of the responses, empty when there are none
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
      if (early) throw new Error(`${name}: responded before the pause: ${early.status} ${await early.text()}`)
      child.kill('SIGSTOP')
      await Promise.all([account.sendEvent(click, id), sleep(pauseMs)])
      proxies.clickhouse.release()
      child.kill('SIGCONT')
      const { status } = await response
      if (status !== 200 && status !== 503) faults.push(`${name}: responded ${status}`)
    }
    return faults
  } finally {
    child.kill('SIGKILL')
    await exited
    await proxies.close()
  }
}
