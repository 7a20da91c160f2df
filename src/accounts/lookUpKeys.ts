import { Value } from '@sinclair/typebox/value'
import { KeyView } from '../../schema/keyView.ts'
import type { Scope } from '../../schema/scopes.ts'
import { Problem } from '../problem.ts'
import { Batcher } from '../stores/batcher.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import { type FreshnessOfAccount, freshnessOf } from '../stores/postgres/freshness.ts'
import { type RetainedRanges, retainedRangesOf } from '../stores/postgres/retainedRanges.ts'
import { withDeadline } from '../stores/timing/deadline.ts'
import type { SubscriptionPlan } from './plans.ts'

/** An existing key, which may be revoked or expired. */
export interface KeyRecord {
  readonly accountId: string
  readonly accountName: string
  /** ISO 4217; every amount in stats and reports is in it. */
  readonly currency: string
  /** Id of the key, not the secret; may be logged. */
  readonly keyId: string
  readonly keyName: string
  readonly scopes: ReadonlySet<Scope>
  /** The part of the account that the key sees; null: all of it. */
  readonly view: KeyView | null
  /** Null when the subscription plan has no API access. */
  readonly subscription: SubscriptionPlan | null
  readonly isRevoked: boolean
  /** Epoch milliseconds; null for no expiry. */
  readonly expiresAtMs: number | null
  /** Of the account. */
  readonly retained: RetainedRanges
  /** Of the account. */
  readonly freshness: FreshnessOfAccount
}

export const tooLate = new Error('The look-up took too long.')
const late = () => tooLate

/** Limits of the load on Postgres: 50 statements and 12,800 keys per second. */
const limits = { itemsMax: 256, concurrentMax: 2, pace: { starts: 1, withinMs: 20 } }
/** Limit of queued keys; look-ups of this many take longer than a process needs to receive as many requests. */
const queuedMax = 5_000

/**
 * Opens look-ups that share statements. Clients may send any number of invented keys: the rate of statements is limited.
 * @param timeoutMs timeout of a look-up and of a statement
 * @returns finds a key by its SHA-256 in hexadecimal; null when it does not exist. It rejects with an error of the driver, `tooLate`
 *   after the deadline, or Problem `unavailable` when the queue is full
 */
export function openKeyLookUps(postgres: Postgres, timeoutMs: number) {
  const lookUps = new Batcher<WantedKey>({ ...limits, timeoutMs, late, run: (wanted) => readKeys(postgres, wanted) })
  return async (hash: string): Promise<KeyRecord | null> => {
    if (lookUps.queued < queuedMax) {
      return (await withDeadline(timeoutMs, late, () => lookUps.add({ hash, record: null }))).record
    }
    throw new Problem('unavailable', 'Too many API keys are being checked at the moment; retry.', { retryAfterS: 2 })
  }
}

interface WantedKey {
  readonly hash: string
  record: KeyRecord | null
}

type StoredKey = Omit<KeyRecord, 'scopes'> & { hash: string; scopes: Scope[] }

/** Keys created while the deletion of their account began are revoked too: the deletion does not see them. */
async function readKeys(postgres: Postgres, wanted: readonly WantedKey[]): Promise<void> {
  const hashes = wanted.map(({ hash }) => hash)
  const rows = await postgres<StoredKey[]>`
    SELECT encode(hash, 'hex') AS hash, accounts.id AS "accountId", accounts.name AS "accountName", currency,
      api_keys.id AS "keyId", api_keys.name AS "keyName", scopes, view,
      (revoked_at IS NOT NULL OR EXISTS (SELECT FROM account_deletions WHERE account_id = accounts.id)) AS "isRevoked",
      (EXTRACT(EPOCH FROM expires_at) * 1000)::float8 AS "expiresAtMs",
      CASE WHEN has_api AND num_nulls(requests_per_minute, events_per_minute, identifier_events_per_minute) = 0
        THEN json_build_object(
          'name', plans.name, 'requestsPerMinute', requests_per_minute, 'eventsPerMinute', events_per_minute,
          'identifierEventsPerMinute', identifier_events_per_minute, 'clickAllowance', click_allowance)
      END AS subscription,
      ${retainedRangesOf(postgres, 'accounts.id')} AS retained,
      ${freshnessOf(postgres, 'accounts.id')} AS freshness
    FROM api_keys
    JOIN accounts ON accounts.id = api_keys.account_id
    JOIN plans ON plans.name = accounts.plan
    WHERE hash = ANY (SELECT decode(hex, 'hex') FROM unnest(${hashes}::text[]) AS hex)`
  // A later version hides more: such a key would see too much here.
  const understood = rows.filter(({ view }) => view === null || Value.Check(KeyView, view))
  const records = new Map(understood.map(({ hash, scopes, ...row }) => [hash, { ...row, scopes: new Set(scopes) }]))
  for (const key of wanted) key.record = records.get(key.hash) ?? null
}
