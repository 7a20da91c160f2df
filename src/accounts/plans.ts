import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'

/** Limits of a subscription. All are integers above 0, except the allowance, which may be 0. */
export interface SubscriptionPlan {
  readonly name: string
  /** Per key, all endpoints except `POST /events`. */
  readonly requestsPerMinute: number
  /** Per key, `POST /events`. */
  readonly eventsPerMinute: number
  /** Per click or visitor, `POST /events`. */
  readonly identifierEventsPerMinute: number
  /** Tracked clicks per UTC month; the limit of events is 20 times as high. */
  readonly clickAllowance: number
}

/** A subscription plan as stored; limits are null for a plan without API access. */
export interface SubscriptionPlanRow {
  name: string
  hasApi: boolean
  requestsPerMinute: number | null
  eventsPerMinute: number | null
  identifierEventsPerMinute: number | null
  /** Tracked clicks per UTC month. */
  clickAllowance: number
}

/** The limits that an operator can change. */
export type SubscriptionPlanLimits = Partial<
  Record<'requestsPerMinute' | 'eventsPerMinute' | 'identifierEventsPerMinute' | 'clickAllowance', number>
>

/** @returns all plans, the smallest allowance first */
export async function listPlans(postgres: Postgres): Promise<SubscriptionPlanRow[]> {
  return await queryPostgres(
    postgres<SubscriptionPlanRow[]>`
      SELECT name, has_api AS "hasApi", requests_per_minute AS "requestsPerMinute", events_per_minute AS "eventsPerMinute",
        identifier_events_per_minute AS "identifierEventsPerMinute", click_allowance::float8 AS "clickAllowance"
      FROM plans
      ORDER BY click_allowance, name`,
  )
}

/**
 * Changes limits of a subscription plan; all instances apply them within 5 seconds.
 * @returns the updated plan, or undefined when it does not exist
 */
export async function setPlanLimits(
  postgres: Postgres,
  name: string,
  limits: SubscriptionPlanLimits,
): Promise<SubscriptionPlanRow | undefined> {
  const [plan] = await queryPostgres(
    postgres<SubscriptionPlanRow[]>`
      UPDATE plans
      SET requests_per_minute = COALESCE(${limits.requestsPerMinute ?? null}, requests_per_minute),
        events_per_minute = COALESCE(${limits.eventsPerMinute ?? null}, events_per_minute),
        identifier_events_per_minute = COALESCE(${limits.identifierEventsPerMinute ?? null}, identifier_events_per_minute),
        click_allowance = COALESCE(${limits.clickAllowance ?? null}, click_allowance)
      WHERE name = ${name}
      RETURNING name, has_api AS "hasApi", requests_per_minute AS "requestsPerMinute",
        events_per_minute AS "eventsPerMinute", identifier_events_per_minute AS "identifierEventsPerMinute",
        click_allowance::float8 AS "clickAllowance"`,
  )
  return plan
}
