import { randomUUID } from 'node:crypto'
import { isUnavailable, Problem } from '../../problem.ts'
import { NotBegun, type WriteBounds } from '../../stores/clickhouse/insert.ts'
import { readClickHouseClock, waitForClickHouseClock } from '../../stores/cluster/clock.ts'
import type { ClickHouse } from '../../stores/cluster/connection.ts'
import { killQueries } from '../../stores/cluster/killQueries.ts'
import { areReplicasEqual } from '../../stores/cluster/replicas.ts'
import type { Lease } from '../../stores/postgres/lease.ts'

/** Prefix of the query ids of a process's writes. @param lease name of its lease, which contains no spaces */
export const writePrefix = (lease: string): string => `write ${lease} `

const windowMinMs = 2_000
const windowMaxMs = 32_000
/** A statement that ends within its window reduces the window of the next one to this share, but not below its own duration. */
const windowDecay = 0.9

/** ClickHouse did not confirm a statement: it may have run, be running, begin within its window, or have failed in part. */
export class OutcomeUnknown extends Problem {
  constructor(cause: Problem) {
    super('unavailable', cause.message, cause.details)
    this.cause = cause
  }
}

/**
 * Prevents statements of an account's successive writers from overlapping. A process may be suspended between confirming
 * its lease and sending a statement, and a statement may reach ClickHouse, or continue there, after its sender has given
 * up. A lease in Postgres cannot stop such a statement, so each statement carries a deadline. Three clocks are used, and no
 * time of one is compared with another:
 *
 * | time                                  | clock                                                  | compared by                      |
 * | ------------------------------------- | ------------------------------------------------------ | -------------------------------- |
 * | the lease expires, 10 s after the     | Postgres                                               | a process that claims an account |
 * | last extension                        |                                                        | of it                            |
 * | the same 10 s, from before the        | this process: the wall clock or the monotonic clock,   | the holder, before each          |
 * | extension was sent                    | the clock that has advanced more                       | statement (`assertHeld`)         |
 * | a statement may begin until its       | ClickHouse; in a cluster the slowest one sets the      | the statement, on each node      |
 * | deadline, 2 to 32 s after it was      | deadline                                               |                                  |
 * | prepared                              |                                                        |                                  |
 *
 * Example: process A records the deadline 12:00:04 in its lease and prepares a statement that may begin until 12:00:02. Then A
 * is suspended. Its lease expires, and B claims an account of A, which ends A's lease. Before its first write, B waits until
 * ClickHouse's clock is 12:00:04 and ends statements of A that still run. If A continues, ClickHouse rejects its statement, and
 * Postgres changes nothing for its fencing token. A process sends one statement at a time.
 */
export class WriteFence {
  readonly #clickhouse: ClickHouse
  readonly #lease: Lease
  readonly #windowMinMs: number
  /** Time within which a statement must begin after it was prepared. It follows the statements: on a slow machine each would be sent twice. */
  #windowMs: number
  /** ClickHouse's clock, and the monotonic clock of this process at the same moment. */
  #clock: { clickhouseMs: number; monotonicMs: number } | undefined
  /** Deadline of the last statement of unknown outcome, epoch milliseconds by ClickHouse's clock; undefined: all are known. */
  unknownUntilMs: number | undefined

  /** @param windowMs the shortest time within which a statement must begin after it was prepared */
  constructor(clickhouse: ClickHouse, lease: Lease, windowMs = windowMinMs) {
    this.#windowMinMs = windowMs
    this.#windowMs = windowMs
    this.#clickhouse = clickhouse
    this.#lease = lease
  }

  /**
   * Sends one statement within bounds, after every earlier statement has ended. A statement that has not begun, such as a large batch
   * that arrives after its deadline, is sent once more with a later deadline.
   * @param statement may run twice
   * @throws NotBegun when nothing was written, OutcomeUnknown, LeaseLost, or Problem `unavailable` before it was sent
   */
  run<Result>(statement: (bounds: WriteBounds) => Promise<Result>): Promise<Result> {
    return this.#send(statement).catch((error) => {
      if (error instanceof NotBegun) return this.#send(statement)
      throw error
    })
  }

  async #send<Result>(statement: (bounds: WriteBounds) => Promise<Result>): Promise<Result> {
    if (!(await this.endEarlierStatements()))
      throw new Problem('unavailable', 'A replica of ClickHouse lacks rows of the other one.')
    const deadlineMs = await this.#nextDeadline()
    this.unknownUntilMs = deadlineMs
    const startedMs = performance.now()
    try {
      const result = await statement({ queryId: `${writePrefix(this.#lease.name)}${randomUUID()}`, deadlineMs })
      this.unknownUntilMs = undefined
      const neededMs = Math.max(this.#windowMinMs, performance.now() - startedMs, windowDecay * this.#windowMs)
      this.#windowMs = Math.min(this.#windowMs, neededMs)
      return result
    } catch (error) {
      if (error instanceof NotBegun) {
        this.unknownUntilMs = undefined
        this.#windowMs = Math.min(2 * Math.max(this.#windowMs, performance.now() - startedMs), windowMaxMs)
        this.#clock = undefined
        throw error
      }
      throw isUnavailable(error) ? new OutcomeUnknown(error) : error
    }
  }

  /**
   * Waits until no earlier statement of this process can begin or change a row, and ends running ones. Then waits for some time until both
   * replicas have what the statements stored.
   * @returns false when a replica still lacks it
   * @throws Problem `unavailable` while ClickHouse does not respond, or when its clock does not reach the deadline
   */
  async endEarlierStatements(): Promise<boolean> {
    if (this.unknownUntilMs === undefined) return true
    await waitForClickHouseClock(this.#clickhouse, this.unknownUntilMs)
    await killQueries(this.#clickhouse, writePrefix(this.#lease.name))
    if (!(await areReplicasEqual(this.#clickhouse))) return false
    this.unknownUntilMs = undefined
    return true
  }

  /** Returns a deadline that the lease already covers; most calls need no new record in the lease. */
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
