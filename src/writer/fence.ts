import { randomUUID } from 'node:crypto'
import { Problem } from '../problem.ts'
import { readClickHouseClock, untilClickHouseClock } from '../stores/clickhouse/clock.ts'
import type { ClickHouse } from '../stores/clickhouse/connection.ts'
import { NotBegun, type WriteBounds } from '../stores/clickhouse/insert.ts'
import { endStatements } from '../stores/clickhouse/running.ts'
import type { Lease } from '../stores/postgres/lease.ts'
import { type RetryOptions, retryWhileUnavailable } from '../stores/retry.ts'

/** How long after it was prepared a statement may begin; longer once a batch has taken longer to arrive. */
const windowMinMs = 2_000
const windowMaxMs = 32_000

/** ClickHouse did not confirm a statement: it may have run, be running, begin within its window, or have failed half-way. */
export class OutcomeUnknown extends Problem {
  constructor(cause: Problem) {
    super('unavailable', cause.message, cause.details)
    this.cause = cause
  }
}

/**
 * Keeps the statements of an account's writers apart. A writer may be suspended between confirming its lease and sending a
 * statement, and a statement may reach ClickHouse, or go on there, after its sender has given up. So each one carries a
 * deadline that ClickHouse compares with its own clock, and the lease holds the latest of them; before anything is
 * written anew, `settle` waits for that moment and ends what is running. Both sides of the comparison are one clock.
 * A writer has one statement at a time.
 */
export class WriteFence {
  readonly #clickhouse: ClickHouse
  readonly #lease: Lease
  readonly #prefix: string
  #windowMs = windowMinMs
  /** ClickHouse's clock, and this process's when it was read. */
  #clock: { clickhouseMs: number; monotonicMs: number } | undefined
  #unsettledUntilMs: number | undefined

  constructor(clickhouse: ClickHouse, accountId: string, lease: Lease) {
    this.#clickhouse = clickhouse
    this.#lease = lease
    this.#prefix = writesOf(accountId)
    this.#unsettledUntilMs = lease.statementDeadlineMs
  }

  /** Until when a statement may begin whose outcome is unknown, by ClickHouse's clock; undefined: there is none. */
  get unsettledUntilMs(): number | undefined {
    return this.#unsettledUntilMs
  }

  /**
   * Sends one statement within bounds, after making sure that none before it is left.
   * @throws NotBegun when nothing was written, OutcomeUnknown, LeaseLost, or Problem `unavailable` before it was sent
   */
  async run<Result>(statement: (bounds: WriteBounds) => Promise<Result>): Promise<Result> {
    await this.settle()
    const deadlineMs = await this.#nextDeadline()
    this.#unsettledUntilMs = deadlineMs
    try {
      const result = await statement({ queryId: `${this.#prefix}${randomUUID()}`, deadlineMs })
      this.#unsettledUntilMs = undefined
      return result
    } catch (error) {
      if (error instanceof NotBegun) {
        this.#unsettledUntilMs = undefined
        this.#windowMs = Math.min(this.#windowMs * 2, windowMaxMs)
        this.#clock = undefined
        throw error
      }
      throw error instanceof Problem && error.status === 503 ? new OutcomeUnknown(error) : error
    }
  }

  /**
   * Waits until no earlier statement of the account can begin, and ends those that run. When it returns, nothing that was
   * sent before changes any row.
   * @throws Problem `unavailable` while ClickHouse does not respond, or when its clock does not come to the deadline
   */
  async settle(): Promise<void> {
    if (this.#unsettledUntilMs === undefined) return
    await untilClickHouseClock(this.#clickhouse, this.#unsettledUntilMs)
    await endStatements(this.#clickhouse, this.#prefix)
    this.#unsettledUntilMs = undefined
  }

  /** The end of the window from now on, recorded with the lease; most statements find it recorded already. */
  async #nextDeadline(): Promise<number> {
    await this.#lease.assertHeld()
    let nowMs = this.#clock && this.#clock.clickhouseMs + performance.now() - this.#clock.monotonicMs
    if (nowMs === undefined || (this.#lease.statementDeadlineMs ?? 0) < nowMs + this.#windowMs) {
      nowMs = await readClickHouseClock(this.#clickhouse)
      this.#clock = { clickhouseMs: nowMs, monotonicMs: performance.now() }
      await this.#lease.recordStatementDeadline(nowMs + 2 * this.#windowMs)
    }
    return Math.floor(Math.min(nowMs + this.#windowMs, this.#lease.statementDeadlineMs ?? 0))
  }
}

/**
 * Waits until nothing that the account's writers sent before can change any row.
 * @throws LeaseLost, or the last error when ClickHouse stays unavailable
 */
export async function settle({ fence, ...patience }: { fence: WriteFence } & RetryOptions): Promise<void> {
  await retryWhileUnavailable('ending earlier statements', () => fence.settle(), patience)
}

/** What the query ids of an account's writes begin with; no account's id holds a space. */
const writesOf = (accountId: string) => `write ${accountId} `
