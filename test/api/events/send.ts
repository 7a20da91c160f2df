import type { LightMyRequestResponse } from 'fastify'
import { openInFlightLimit } from '../../../src/api/events/accept.ts'
import { type Sender, unsettled } from '../../../src/events/incomingEvent.ts'
import { type Intake, openIntake } from '../../../src/events/intake.ts'
import { readEvent } from '../../../src/events/validate.ts'
import type { App } from '../../../src/http/context.ts'
import type { Stores } from '../../../src/stores/open.ts'
import { type TestApp, testNowMs } from '../../kit/app.ts'
import { changeTables, storeClicks, storeMetadata } from '../../kit/rows.ts'

let accounts = 0

/** Creates an account of a test's own, with the campaign `camp` and the click `click`. */
export async function newAccount(api: TestApp, options: { plan?: string } = {}): Promise<{ id: string; key: string }> {
  accounts += 1
  const id = `account-${accounts}`
  const key = await api.account(id, options)
  await storeMetadata(api.stores, 'campaigns', id, [{ id: 'camp', user_id: 'owner' }])
  await storeClicks(api.stores, id, [{ id: 'click', clicked_at: '2026-11-20 10:00:00.000', campaign_id: 'camp' }])
  return { id, key }
}

export type Sent = [status: number, body: Record<string, unknown>]

export async function post(
  app: App,
  key: string,
  body: object | string,
  { path = '/events', type = 'application/json' } = {},
): Promise<LightMyRequestResponse> {
  return await app.inject({
    method: 'POST',
    url: `/api/v1${path}`,
    headers: { authorization: `ApiKey ${key}`, 'content-type': type },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** POSTs an event. @returns status and body; of a refusal only its code */
export async function send(app: App, key: string, body: object | string): Promise<Sent> {
  const response = await post(app, key, body)
  const json = response.json()
  return [response.statusCode, response.statusCode === 200 ? json : { error: json.error }]
}

/** Opens an intake of events, as a server has one, without a log. @param more replaces its parts */
export function openTestIntake(stores: Stores, more: { timeoutMs?: number } = {}): Intake {
  const log = { warn() {}, error() {} }
  const inFlight = openInFlightLimit()
  return openIntake({ stores, inFlight, now: () => testNowMs, log, registry: undefined, ...more })
}

export async function acceptAll(intake: Intake, events: readonly object[], sender: Sender) {
  const valid = unsettled(events.map((body) => readEvent({ ...body }, sender, testNowMs)))
  await intake.accept(valid)
  return valid.map(({ outcome }) => outcome)
}

export const accepted: Sent = [200, { accepted: true }]
export const deduplicated: Sent = [200, { accepted: true, deduplicated: true }]
export const overCeiling: Sent = [200, { accepted: true, recorded: false, reason: 'fair_use_ceiling' }]
export const refused = (status: number, error: string): Sent => [status, { error }]

/** A row of `pixel_events`, collapsed, with its times in epoch milliseconds. */
export interface EventRow {
  id: string
  origin: string
  generation: number
  event_name: string
  click_id: string
  visitor_id: string
  campaign_id: string
  user_id: string
  value: number | null
  currency: string
  properties: string
  occurredAtMs: number
  receivedAtMs: number
}

/** Makes the events of an account look as if they were stored earlier: the clock of ClickHouse cannot be set. */
export async function storeEarlier(stores: Pick<Stores, 'clickhouse'>, accountId: string, ms: number): Promise<void> {
  const update = `stored_at = stored_at - INTERVAL ${ms} MILLISECOND`
  await changeTables(stores, `ALTER TABLE pixel_events UPDATE ${update} WHERE account_id = '${accountId}'`)
}

export async function storedEvents({ clickhouse }: Pick<Stores, 'clickhouse'>, accountId: string): Promise<EventRow[]> {
  const response = await clickhouse.client.query({
    query: `
      SELECT * EXCEPT (account_id, occurred_at, received_at, stored_at),
        toUnixTimestamp64Milli(occurred_at) AS occurredAtMs, toUnixTimestamp64Milli(received_at) AS receivedAtMs
      FROM pixel_events FINAL
      WHERE account_id = {account:String}
      ORDER BY id, origin, generation`,
    query_params: { account: accountId },
    format: 'JSONEachRow',
    clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
  })
  return await response.json<EventRow>()
}
