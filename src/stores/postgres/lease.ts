import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { ExpectedError } from '../../expectedError.ts'
import { measureElapsed } from '../timing/elapsed.ts'
import { type RetryOptions, retryWhileUnavailable } from '../timing/retry.ts'
import { type Postgres, queryPostgres } from './connection.ts'

/** Another process holds the lease, or may hold it. This process must stop; the other one continues its work. */
export class LeaseLost extends ExpectedError {
  constructor() {
    super('this process was suspended and another one may have taken over its lease; run it again.')
  }
}

/** An acquired lease: only its holder does the work that it names. For writers, `WriteFence` explains the clocks. */
export type Lease = ReturnType<typeof hold>

export interface LeaseOptions {
  /** Blocking lease: acquisition fails while it is held. */
  blockedBy?: string
  /** Called once, before the first wait. */
  onWait?: () => void
  signal?: AbortSignal
  /** How an attempt is repeated while Postgres is unavailable, and its name in the progress line; it is not repeated unless given. */
  retry?: RetryOptions & { step: string }
}

/** The lease of a killed holder expires after this time; a writer then also waits for its last statement (`waitForEarlierStatements`). */
const leaseMs = 10_000
const heartbeatMs = 2_500
const retryMs = 250

/**
 * Acquires the lease of that name; waits until its holder releases it or it expires, by the database's clock.
 * @throws the reason of `signal`, or Problem `unavailable`
 */
export async function acquireLease(
  postgres: Postgres,
  name: string,
  { blockedBy, onWait, signal, retry }: LeaseOptions = {},
): Promise<Lease> {
  const owner = randomUUID()
  const attempt = () => tryLease(postgres, name, blockedBy, owner)
  for (let isFirst = true; ; isFirst = false) {
    const lease = await (retry ? retryWhileUnavailable(retry.step, attempt, retry) : attempt())
    if (lease) return lease
    if (isFirst) onWait?.()
    signal?.throwIfAborted()
    await pause(retryMs)
    signal?.throwIfAborted()
  }
}

/**
 * Acquires the lease if it is free, then checks the blocking one, whose holder checks this one afterwards. Each writes before it reads,
 * so at least one sees the other. Never waits.
 * @param blockedBy another lease that must be free too
 * @returns undefined while one of them is held
 * TRAP: not a transaction; a connection that breaks within one ends the process (postgres 3.4: its rollback finds no socket).
 */
export async function tryLease(postgres: Postgres, name: string, blockedBy?: string, owner: string = randomUUID()) {
  const elapsedMs = measureElapsed()
  const [row] = await queryPostgres(postgres<LeaseRow[]>`
    INSERT INTO leases (name, owner, fence, expires_at)
    VALUES (${name}, ${owner}, 1, clock_timestamp() + ${leaseMs} * interval '1 millisecond')
    ON CONFLICT (name) DO UPDATE
    SET owner = excluded.owner, fence = leases.fence + 1, expires_at = excluded.expires_at
    WHERE leases.expires_at < clock_timestamp() OR leases.owner = ${owner}
    RETURNING fence AS "fencingToken", statement_deadline`)
  if (!row) return undefined
  if (blockedBy !== undefined && (await expireAndCheckHolder(postgres, blockedBy))) {
    await release(postgres, name, owner, row.statement_deadline)
    return undefined
  }
  return hold(postgres, name, owner, row, elapsedMs)
}

type LeaseRow = { fencingToken: string; statement_deadline: Date | null }

/**
 * Whether a lease that can expire has a holder; claims of processes cannot. Expired leases are taken from their holders first, so
 * that none is extended after this check.
 * @param pattern of LIKE
 */
export async function expireAndCheckHolder(postgres: Postgres, pattern: string): Promise<boolean> {
  await queryPostgres(postgres`
    UPDATE leases SET owner = ${noOwner}, fence = fence + 1
    WHERE name LIKE ${pattern} AND owner <> ${noOwner} AND expires_at < clock_timestamp()`)
  const held = await queryPostgres(postgres`
    SELECT 1 FROM leases WHERE name LIKE ${pattern} AND owner <> ${noOwner} AND expires_at < 'infinity' LIMIT 1`)
  return held.length > 0
}

const noOwner = ''

async function release(postgres: Postgres, name: string, owner: string, deadline: Date | null): Promise<void> {
  const release = postgres`
    UPDATE leases
    SET owner = ${noOwner}, expires_at = '-infinity',
      statement_deadline = ${deadline?.toISOString() ?? null}::timestamptz
    WHERE name = ${name} AND owner = ${owner}`
  await queryPostgres(release).catch(() => {})
}

/** @param elapsedMs returns the time since the lease was requested, milliseconds */
function hold(postgres: Postgres, name: string, owner: string, taken: LeaseRow, elapsedMs: () => number) {
  const loss = new AbortController()
  let sinceLastBeatMs = elapsedMs
  let statementDeadlineMs = taken.statement_deadline?.getTime()
  const beat = setInterval(() => {
    // Postgres may be unavailable for a moment; `assertHeld` reports it to the writer.
    extend().catch(() => {})
  }, heartbeatMs)
  beat.unref()

  /** @param deadlineMs the statement deadline to record; one before the recorded deadline changes nothing */
  async function extend(deadlineMs?: number): Promise<void> {
    const elapsedMs = measureElapsed()
    const deadline = deadlineMs === undefined ? null : new Date(deadlineMs).toISOString()
    const rows = await queryPostgres(postgres`
      UPDATE leases
      SET expires_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond',
        statement_deadline = greatest(statement_deadline, ${deadline}::timestamptz)
      WHERE name = ${name} AND owner = ${owner}
      RETURNING 1`)
    if (rows.length > 0) {
      sinceLastBeatMs = elapsedMs
      if (deadlineMs !== undefined) statementDeadlineMs = Math.max(statementDeadlineMs ?? 0, deadlineMs)
      return
    }
    clearInterval(beat)
    loss.abort(new LeaseLost())
  }

  return {
    name,
    /** Column `fence` of `leases`: increases at every change of holder; the statements of `WriteSession.change` are conditional on it. */
    fencingToken: BigInt(taken.fencingToken),
    /** Aborts, with LeaseLost, when the lease has another holder. */
    // Its inferred type has no name that the build can emit.
    lost: loss.signal as AbortSignal,
    /**
     * The latest recorded deadline, epoch milliseconds by the clock of the store that runs the statements. Neither a statement of
     * this holder nor an unfinished one of an earlier holder begins later. Undefined if no deadline is recorded.
     */
    get statementDeadlineMs() {
      return statementDeadlineMs
    },
    /**
     * Asserts that this process holds the lease; usually without a query. Call it right before what the next holder could not
     * undo. An expired lease is extended if no other process has acquired it.
     * @throws LeaseLost, or Problem `unavailable` when Postgres does not respond
     */
    async assertHeld() {
      loss.signal.throwIfAborted()
      if (sinceLastBeatMs() < leaseMs) return
      await extend()
      loss.signal.throwIfAborted()
    },
    /**
     * Records, before a statement is sent, until when it may begin. The next holder waits until then.
     * @throws LeaseLost, or Problem `unavailable`
     */
    async recordStatementDeadline(deadlineMs: number) {
      await extend(deadlineMs)
      loss.signal.throwIfAborted()
    },
    /**
     * Releases at once; while Postgres is unavailable, the next holder waits for the expiry.
     * @param deadlineMs until when a statement of unknown outcome may begin, null for none; the recorded one unless given
     */
    async release(deadlineMs: number | null = statementDeadlineMs ?? null) {
      clearInterval(beat)
      await release(postgres, name, owner, deadlineMs === null ? null : new Date(deadlineMs))
    },
  }
}
