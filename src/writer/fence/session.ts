import { setTimeout as pause } from 'node:timers/promises'
import type { ClickHouseSettings } from '@clickhouse/client'
import type { ParameterOrFragment, PendingQuery, Row } from 'postgres'
import { ExpectedError } from '../../expectedError.ts'
import { diskFullOf } from '../../problem.ts'
import { keepAliveSettings } from '../../stores/clickhouse/client.ts'
import { failAfter, type Insertion, insertRows, runStatement } from '../../stores/clickhouse/insert.ts'
import { type QueryOptions, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, text } from '../../stores/clickhouse/sql.ts'
import { selectOnEveryNode } from '../../stores/cluster/everyNode.ts'
import { areReplicasEqual } from '../../stores/cluster/replicas.ts'
import type { Stores } from '../../stores/open.ts'
import { type Postgres, queryPostgres } from '../../stores/postgres/connection.ts'
import { type Lease, LeaseLost } from '../../stores/postgres/lease.ts'
import { type RetainedRanges, readRangesByAccount } from '../../stores/postgres/retainedRanges.ts'
import { retryWhileUnavailable } from '../../stores/timing/retry.ts'
import { OutcomeUnknown, type WriteFence } from './fence.ts'

type SessionParts = Pick<WriteSession, 'stores' | 'lease' | 'fence' | 'signal' | 'onMessage'>

/** The account does not allow what was asked for, and nothing was changed. The message is one line. */
export class WriteRefused extends ExpectedError {}

const readSettings: ClickHouseSettings = {
  ...keepAliveSettings,
  // Some read a whole month or account.
  max_execution_time: 600,
  max_bytes_before_external_group_by: `${256 << 20}`,
  // In a cluster, the node that receives a query sends it to the others with the values of its parameters in its text.
  max_query_size: '4000000',
}

const pollMs = { first: 10, longest: 200 }
const announceAfterMs = 15_000
const waitingForReplicas = 'Waiting until both replicas of ClickHouse have all rows.'

/**
 * The statements of a process that writes, under its lease. They change rows of accounts that the process has claimed. Every method
 * retries while a store is unavailable, with a message that names the step. All functions that take a session or a writer throw
 * LeaseLost, the last error when a store stays unavailable, or the reason of `signal`.
 */
export class WriteSession {
  readonly stores: Pick<Stores, 'clickhouse' | 'postgres'>
  /** Of the process; `newProcess` makes its name. */
  readonly lease: Lease
  /** Sends every statement that must not overlap with a statement of another writer. */
  readonly fence: WriteFence
  /** Aborts when the lease is lost or the user interrupts the command. */
  readonly signal: AbortSignal
  readonly onMessage: (line: string) => void

  constructor({ stores, lease, fence, signal, onMessage }: SessionParts) {
    this.stores = stores
    this.lease = lease
    this.fence = fence
    this.signal = signal
    this.onMessage = onMessage
  }

  /** @returns the writer of an account that the process has claimed */
  writerOf(accountId: string): Writer {
    return new Writer({ ...this, accountId })
  }

  /** @param attempt may run several times */
  retry<Result>(step: string, attempt: () => Promise<Result>, signal = this.signal): Promise<Result> {
    return retryWhileUnavailable(step, attempt, { onMessage: this.onMessage, signal })
  }

  /** Reads rows of ClickHouse. @param label names the query in ClickHouse's query log */
  select<Found>(step: string, query: Fragment, label: string): Promise<Found[]> {
    return this.retry(step, () => selectRows<Found>(this.stores.clickhouse, query, this.optionsOf(label)))
  }

  selectOnEveryNode<Found>(step: string, query: Fragment, label: string): Promise<Found[]> {
    return this.retry(step, () => selectOnEveryNode<Found>(this.stores.clickhouse, query, this.optionsOf(label)))
  }

  /** Reads from when the rows of accounts are retained, by account. */
  readRangesByAccount(accountIds: readonly string[]): Promise<Map<string, RetainedRanges>> {
    const read = () => readRangesByAccount(this.stores.postgres, accountIds)
    return this.retry('reading from when rows are retained', read)
  }

  /** Runs an idempotent statement of Postgres. @returns its tag, which sends it */
  sql<Rows extends readonly object[] = Row[]>(step: string, signal = this.signal) {
    return (statement: TemplateStringsArray, ...values: ParameterOrFragment<never>[]): Promise<Rows> =>
      this.retry(step, () => queryPostgres(this.stores.postgres<Rows>(statement, ...values)), signal)
  }

  /**
   * Runs an idempotent statement of Postgres that changes nothing unless the lease is held. It locks the row of the lease, so
   * that the next holder sees its changes.
   * @param result its SELECT, which returns a row if the clauses have written
   * @param signal ends the retries
   * @returns a template tag; its text is the WITH clauses after `held`. `held` has one row while this writer has the lease, else none.
   *   Each clause that writes reads `held`, or a clause that does, so it writes nothing after the lease is lost
   */
  change<Changed extends Row>(step: string, result?: PendingQuery<Changed[]>, signal = this.signal) {
    const { postgres } = this.stores
    const { name, fencingToken } = this.lease
    return async (clauses: TemplateStringsArray, ...values: ParameterOrFragment<never>[]): Promise<Changed[]> => {
      const attempt = async () => {
        await this.lease.assertHeld()
        const held = postgres`
          SELECT 1 FROM leases WHERE name = ${name} AND fence = ${fencingToken.toString()}::bigint FOR SHARE`
        return await queryPostgres(postgres<Changed[]>`
          WITH held AS (${held}), ${postgres(clauses, ...values)} ${result ?? postgres`SELECT FROM held`}`)
      }
      const rows = await this.retry(step, attempt, signal)
      if (rows.length === 0) throw new LeaseLost()
      return rows
    }
  }

  /**
   * Inserts rows; attempts that did not begin are repeated, one that began is not.
   * @returns true when all rows are stored; false when any of them may be; no attempt runs afterwards
   */
  async tryInsert(insertion: Insertion): Promise<boolean> {
    const isStored = await this.retry('storing a batch', async () => {
      try {
        await this.fence.run((bounds) => insertRows(this.stores.clickhouse, insertion, bounds))
        return true
      } catch (error) {
        if (error instanceof OutcomeUnknown && !diskFullOf(error)) return false
        throw error
      }
    })
    if (isStored) return true
    this.onMessage('ClickHouse did not confirm a batch; checking what it stored.')
    await this.waitForEarlierStatements()
    return false
  }

  /** Runs an idempotent INSERT … SELECT of ClickHouse. @param statement has the condition `inTime` in its WHERE */
  insert(step: string, label: string, statement: (inTime: Fragment) => Fragment): Promise<void> {
    return this.retry(step, () => this.insertWithoutRetry(label, statement))
  }

  /** The same without retries, for a caller that retries it together with another step. @throws what `WriteFence.run` throws */
  async insertWithoutRetry(label: string, statement: (inTime: Fragment) => Fragment): Promise<void> {
    await this.waitForEarlierStatements()
    await this.fence.run(({ deadlineMs, queryId }) =>
      runStatement(this.stores.clickhouse.client, statement(failAfter(deadlineMs)), label, { queryId }),
    )
  }

  /** Polls until a condition is true. @param message is announced once when the wait is long @returns false after `maxMs` */
  async waitUntil(isTrue: () => Promise<boolean>, message: string, maxMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const startedMs = performance.now()
    let isAnnounced = false
    for (let pauseMs = pollMs.first; !(await isTrue()); pauseMs = Math.min(2 * pauseMs, pollMs.longest)) {
      const passedMs = performance.now() - startedMs
      if (passedMs >= maxMs) return false
      if (!isAnnounced && passedMs > announceAfterMs) {
        this.onMessage(message)
        isAnnounced = true
      }
      await this.pause(pauseMs)
    }
    return true
  }

  /** @throws the reason of `signal`; the timer rejects with an error of its own */
  pause(ms: number): Promise<void> {
    return pause(ms, undefined, { signal: this.signal }).catch(() => this.signal.throwIfAborted())
  }

  /** Waits until no earlier statement of this process can change any row, and both replicas have the same rows. @throws LeaseLost */
  async waitForEarlierStatements(): Promise<void> {
    const haveEnded = () => this.retry('ending earlier statements', () => this.fence.endEarlierStatements())
    await this.waitUntil(haveEnded, waitingForReplicas)
  }

  /** Waits until every node reads the same rows. @param which condition on `system.replicas` */
  async waitForReplicas(which?: Fragment): Promise<void> {
    const areEqual = () => this.retry('comparing replicas', () => areReplicasEqual(this.stores.clickhouse, which))
    await this.waitUntil(areEqual, waitingForReplicas)
  }

  /** Releases the lease and, once no statement of unknown outcome is left, the claims. */
  async close(): Promise<void> {
    const { unknownUntilMs } = this.fence
    await this.lease.release(unknownUntilMs ?? null)
    if (unknownUntilMs === undefined) await releaseClaims(this.stores.postgres, this.lease.name)
  }

  optionsOf(label: string): QueryOptions {
    return { label, signal: this.signal, settings: readSettings }
  }
}

/** The right to write an account's rows, which one process at a time has claimed; `openWriter` opens it. */
export class Writer extends WriteSession {
  readonly accountId: string
  /** Condition: a row of ClickHouse belongs to the account. */
  readonly ofAccount: Fragment

  constructor({ accountId, ...session }: SessionParts & Pick<Writer, 'accountId'>) {
    super(session)
    this.accountId = accountId
    this.ofAccount = ch`account_id = ${text(accountId)}`
  }

  async readRetained(): Promise<RetainedRanges> {
    return (await this.readRangesByAccount([this.accountId])).get(this.accountId) ?? { clicksMs: 0, eventsMs: 0 }
  }
}

/** Releases the claims of a process that has released its lease and has no statement left; deletes the lease. */
export async function releaseClaims(postgres: Postgres, name: string): Promise<void> {
  // While Postgres is unavailable, the claims end with the lease.
  await queryPostgres(postgres`
    WITH released AS (
      UPDATE leases SET owner = '', process = NULL, expires_at = '-infinity' WHERE process = ${name})
    DELETE FROM leases WHERE name = ${name} AND owner = ''`).catch(() => {})
}
