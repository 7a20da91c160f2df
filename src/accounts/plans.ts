import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'

/** What an account has paid for. All limits are whole numbers above 0 but the allowance, which may be 0. */
export interface SubscriptionPlan {
  readonly name: string
  /** Per key, all endpoints but events. */
  readonly requestsPerMinute: number
  /** Per key, `POST /events`. */
  readonly eventsPerMinute: number
  /** Per click or visitor, `POST /events`. */
  readonly identifierEventsPerMinute: number
  /** Tracked clicks a UTC month; 20 times it is the ceiling of events. */
  readonly clickAllowance: number
}

/** A plan as an operator sees it; limits are null where the plan has no API. */
export interface SubscriptionPlanRow {
  name: string
  hasApi: boolean
  requestsPerMinute: number | null
  eventsPerMinute: number | null
  identifierEventsPerMinute: number | null
  /** Tracked clicks a UTC month. */
  clickAllowance: number
}

/** The numbers of a plan that an operator may change. */
export type SubscriptionPlanLimits = Partial<
  Record<'requestsPerMinute' | 'eventsPerMinute' | 'identifierEventsPerMinute' | 'clickAllowance', number>
>

/** @returns every plan, the smallest allowance first */
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
 * Changes the given numbers of a plan; every instance follows within 5 seconds.
 * @returns the plan as it is now, or undefined when there is none of that name
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
