import { eventAgeMaxMs } from '../../schema/event.ts'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import { type RetainedRanges, retainedRangesOf } from '../stores/postgres/retainedRanges.ts'
import { dayMs } from '../stores/timing/units.ts'
import { startOfUtcMonth } from '../stores/timing/utcMonth.ts'
import { isNotDeleted } from './accounts.ts'
import { auditClause } from './audit.ts'

/** How many whole UTC months before the present one an account retains; 0: all. */
export interface Retention {
  accountId: string
  clickMonths: number
  eventMonths: number
  /** Its import by `account import` has not ended: it retains all rows until then. */
  isImporting: boolean
  /** What earlier removals have left, which a longer retention does not bring back. */
  retained: RetainedRanges
  /** The clock of Postgres, epoch milliseconds. */
  nowMs: number
}

/** A setting of an account; null: the plan decides. Undefined: unchanged. */
export interface RetentionSetting {
  clickMonths?: number | null | undefined
  eventMonths?: number | null | undefined
}

/** @returns the retention of all accounts, or of one, by id @param given settings that replace the stored ones */
export async function listRetention(postgres: Postgres, accountId?: string, given: RetentionSetting = {}) {
  return await queryPostgres(postgres<Retention[]>`
    SELECT accounts.id AS "accountId",
      COALESCE(${monthsOf(postgres, 'retained_click_months', given.clickMonths)}, plans.retained_click_months) AS "clickMonths",
      COALESCE(${monthsOf(postgres, 'retained_event_months', given.eventMonths)}, plans.retained_event_months) AS "eventMonths",
      accounts.import_of IS NOT NULL AS "isImporting",
      ${retainedRangesOf(postgres, 'accounts.id')} AS retained,
      EXTRACT(EPOCH FROM clock_timestamp())::float8 * 1000 AS "nowMs"
    FROM accounts
    JOIN plans ON plans.name = accounts.plan
    WHERE ${isNotDeleted(postgres)} AND (${accountId ?? null}::text IS NULL OR accounts.id = ${accountId ?? null})
    ORDER BY accounts.id`)
}

/** The setting of an account that is given, else the stored one. */
function monthsOf(postgres: Postgres, column: string, months: number | null | undefined) {
  return months === undefined ? postgres(`accounts.${column}`) : postgres`${months}::smallint`
}

/** From the end of a month to its removal, at least: an event may be 30 days old when accepted, and clocks differ by up to a day. */
const removalDelayMs = eventAgeMaxMs + dayMs

/**
 * Computes which rows an account retains. Uses the slower of the two clocks: one that is ahead would remove rows for ever.
 * @param nowMs the clock of this process
 * @returns starts of UTC months; never before what earlier removals have left
 */
export function retainedBy(setting: Retention, nowMs: number): RetainedRanges {
  const { clickMonths, eventMonths, isImporting, retained, nowMs: storeMs } = setting
  if (isImporting) return retained
  const presentMs = Math.min(nowMs, storeMs)
  const latestMs = startOfUtcMonth(presentMs - removalDelayMs)
  const startOf = (months: number, leftMs: number) =>
    months === 0 ? leftMs : Math.max(leftMs, Math.min(startOfUtcMonth(presentMs, -months), latestMs))
  return { clicksMs: startOf(clickMonths, retained.clicksMs), eventsMs: startOf(eventMonths, retained.eventsMs) }
}

/** SELECT of one row while account and plan still have these settings; until the end of the statement they cannot change. */
export function hasRetention(postgres: Postgres, { accountId, clickMonths, eventMonths }: Retention) {
  return postgres`
    SELECT 1
    FROM accounts
    JOIN plans ON plans.name = accounts.plan
    WHERE accounts.id = ${accountId} AND accounts.import_of IS NULL
      AND COALESCE(accounts.retained_click_months, plans.retained_click_months) = ${clickMonths}::smallint
      AND COALESCE(accounts.retained_event_months, plans.retained_event_months) = ${eventMonths}::smallint
    FOR SHARE`
}

/** @returns the setting of an account; undefined when it does not exist */
export async function readRetentionSetting(postgres: Postgres, accountId: string) {
  const [row] = await queryPostgres(postgres<Required<RetentionSetting>[]>`
    SELECT retained_click_months AS "clickMonths", retained_event_months AS "eventMonths"
    FROM accounts
    WHERE id = ${accountId} AND ${isNotDeleted(postgres)}`)
  return row
}

/** Changes at least one setting of an account, for later removals. @returns false when the account does not exist */
export async function setRetention(postgres: Postgres, accountId: string, setting: RetentionSetting): Promise<boolean> {
  const columns = postgres`
    jsonb_build_object('retainedClickMonths', retained_click_months, 'retainedEventMonths', retained_event_months)`
  const rows = await queryPostgres(postgres<{ id: string }[]>`
    WITH previous AS (
      SELECT id, retained_click_months, retained_event_months, ${columns} AS setting FROM accounts
      WHERE id = ${accountId} AND ${isNotDeleted(postgres)}
      FOR UPDATE),
    changed AS (
      UPDATE accounts
      SET retained_click_months = ${monthsOf(postgres, 'retained_click_months', setting.clickMonths)},
        retained_event_months = ${monthsOf(postgres, 'retained_event_months', setting.eventMonths)}
      FROM previous
      WHERE accounts.id = previous.id
      RETURNING accounts.id, accounts.retained_click_months, accounts.retained_event_months,
        previous.setting AS before),
    ${auditClause(postgres, 'retention.set')`
      SELECT id, ${columns} || jsonb_build_object('before', before)
      FROM changed
      WHERE ${columns} <> before`}
    SELECT id FROM changed`)
  return rows.length > 0
}
