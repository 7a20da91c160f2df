import type { PendingQuery, Row } from 'postgres'
import type { PlanLimits } from '../../schema/usage.ts'
import { columnName } from '../stores/clickhouse/columnKinds.ts'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import { auditClause } from './audit.ts'

/** Limits of a subscription. All are integers above 0, except the allowance, which may be 0. */
export interface SubscriptionPlan extends Readonly<PlanLimits> {
  readonly name: string
  /** Tracked clicks per UTC month; the limit of events is 20 times as high. */
  readonly clickAllowance: number
}

/** A subscription plan as stored; limits are null for a plan without API access. */
export interface SubscriptionPlanRow extends Record<keyof PlanLimits, number | null> {
  name: string
  hasApi: boolean
  /** Tracked clicks per UTC month. */
  clickAllowance: number
  /** Number of whole UTC months, before the present one, that an account retains; 0: all. An account may have its own setting. */
  retainedClickMonths: number
  retainedEventMonths: number
}

export type SubscriptionPlanLimits = Partial<Record<Exclude<keyof SubscriptionPlanRow, 'name' | 'hasApi'>, number>>

/** @returns all plans, the smallest allowance first */
export async function listPlans(postgres: Postgres): Promise<SubscriptionPlanRow[]> {
  return await queryPostgres(postgres<SubscriptionPlanRow[]>`
    SELECT ${planColumns(postgres)}
    FROM plans
    ORDER BY click_allowance, name`)
}

type NewPlanLimits = SubscriptionPlanLimits & { clickAllowance: number }

/** Creates a plan; absent limits per minute are null, absent months 0. @returns undefined when the name exists */
export async function createPlan(postgres: Postgres, name: string, limits: NewPlanLimits) {
  const [plan] = await queryPostgres(postgres<SubscriptionPlanRow[]>`
    WITH created AS (
      INSERT INTO plans ${postgres({ name, has_api: givesApi(limits), ...columnsOf(limits) })}
      ON CONFLICT (name) DO NOTHING
      RETURNING *),
    plan AS (SELECT ${planColumns(postgres)} FROM created),
    ${auditClause(postgres, 'plan.create')`SELECT NULL, to_jsonb(plan) FROM plan`}
    SELECT * FROM plan`)
  return plan
}

/** Deletes a plan, unless it is the plan of an account. */
export async function deletePlan(postgres: Postgres, name: string): Promise<'deleted' | 'in use' | 'missing'> {
  try {
    const deleted = await queryPostgres(postgres`
      WITH deleted AS (
        DELETE FROM plans
        WHERE name = ${name}
        RETURNING *),
      plan AS (SELECT ${planColumns(postgres)} FROM deleted),
      ${auditClause(postgres, 'plan.delete')`SELECT NULL, to_jsonb(plan) FROM plan`}
      SELECT name FROM plan`)
    return deleted.length > 0 ? 'deleted' : 'missing'
  } catch (error) {
    if ((error as { code?: unknown }).code === foreignKeyViolation) return 'in use'
    throw error
  }
}

/** SQLSTATE of a statement that would leave a reference to a row that does not exist. */
const foreignKeyViolation = '23503'

/** Changes at least one limit of a plan; all instances apply them within 5 seconds. @returns undefined when the plan does not exist */
export async function setPlanLimits(postgres: Postgres, name: string, limits: SubscriptionPlanLimits) {
  const [plan] = await queryPostgres(postgres<SubscriptionPlanRow[]>`
    WITH previous AS (
      SELECT * FROM plans
      WHERE name = ${name}
      FOR UPDATE),
    changed AS (
      UPDATE plans
      SET ${postgres({ ...(givesApi(limits) && { has_api: true }), ...columnsOf(limits) })}
      FROM previous
      WHERE plans.name = previous.name
      RETURNING plans.*),
    ${auditClause(postgres, 'plan.set')`
      SELECT NULL, to_jsonb(after) || jsonb_build_object('before', to_jsonb(before))
      FROM (SELECT ${planColumns(postgres)} FROM changed) AS after
      JOIN (SELECT ${planColumns(postgres)} FROM previous) AS before USING (name)
      WHERE to_jsonb(after) <> to_jsonb(before)`}
    SELECT ${planColumns(postgres)}
    FROM changed`)
  return plan
}

/** @returns limits by column */
function columnsOf(limits: SubscriptionPlanLimits): Record<string, number> {
  return Object.fromEntries(Object.entries(limits).map(([field, limit]) => [columnName(field), limit]))
}

/** Whether limits give access to the API: all three limits per minute. */
function givesApi({ requestsPerMinute, eventsPerMinute, identifierEventsPerMinute }: SubscriptionPlanLimits): boolean {
  return [requestsPerMinute, eventsPerMinute, identifierEventsPerMinute].every((limit) => limit !== undefined)
}

function planColumns(postgres: Postgres): PendingQuery<Row[]> {
  return postgres`name, has_api AS "hasApi", requests_per_minute AS "requestsPerMinute",
    events_per_minute AS "eventsPerMinute", identifier_events_per_minute AS "identifierEventsPerMinute",
    click_allowance::float8 AS "clickAllowance", retained_click_months AS "retainedClickMonths",
    retained_event_months AS "retainedEventMonths"`
}
