import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Postgres, queryPostgres } from './connection.ts'

/** Somebody else may be at work on what the lease was for; what was under way is left to them. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'

  constructor() {
    super('this writer did not answer for a while and another one may have taken over; run it again.')
  }
}

/** A lease in hand: proof, at each use, that nobody else does the same work. */
export interface Lease {
  readonly name: string
  /** Grows at every change of hands; whatever is written under the lease is conditional on it. */
  readonly fence: bigint
  /** Aborts, with LeaseLost, when the lease has another holder. */
  readonly lost: AbortSignal
  /**
   * Until when a statement of this holder, or of an earlier one whose statements are not known to have ended, may still
   * begin: epoch milliseconds by the clock of the store that the statements go to. Undefined: no statement is left.
   */
  readonly statementDeadlineMs: number | undefined
  /**
   * Makes sure that it is ours; for the most part without asking. Call it right before anything that the next holder could
   * not undo. One that has run out, as while Postgres was away or the machine slept, is ours still if nobody took it.
   * @throws LeaseLost, or Problem `unavailable` when Postgres does not say whose it is
   */
  assertHeld(): Promise<void>
  /**
   * Records, before a statement is sent, until when it may begin. The next holder waits for that moment.
   * @throws LeaseLost, or Problem `unavailable`
   */
  recordStatementDeadline(deadlineMs: number): Promise<void>
  /**
   * Releases at once, so that the next holder need not wait for the expiry; while Postgres is unavailable it has to.
   * @param deadlineMs until when a statement whose outcome is unknown may begin, null when there is none; unless given,
   *   what was recorded stays
   */
  release(deadlineMs?: number | null): Promise<void>
}

/** How a lease is waited for. */
export interface LeaseOptions {
  /** Another lease, which must be nobody's: while somebody has it, this one is not kept. */
  blockedBy?: string
  /** Called once, before the first wait. @param held the lease that is somebody else's: the wanted one, or `behind` */
  onWait?: (held: string) => void
  /** Ends the wait. */
  signal?: AbortSignal
  /** Repeats a try while Postgres is away; once, unless given. */
  retry?: <Outcome>(attempt: () => Promise<Outcome>) => Promise<Outcome>
}

/** A holder that was killed blocks the next one for at most this long. */
const leaseMs = 10_000
const heartbeatMs = 2_500
const retryMs = 250

/**
 * Takes the lease of that name, waiting for its holder to release it or to expire.
 * Holders are told apart by the database's clock alone.
 * @throws the reason of `signal`, or Problem `unavailable`
 */
export async function acquireLease(
  postgres: Postgres,
  name: string,
  { blockedBy: behind, onWait, signal, retry: repeat = (attempt) => attempt() }: LeaseOptions = {},
): Promise<Lease> {
  const owner = randomUUID()
  for (let isFirst = true; ; isFirst = false) {
    const asked = readClocks()
    const { taken, held } = await repeat(() => tryToAcquire(postgres, name, owner, behind))
    if (taken) return hold(postgres, name, owner, taken, asked)
    if (isFirst) onWait?.(held)
    signal?.throwIfAborted()
    await pause(retryMs)
    signal?.throwIfAborted()
  }
}

/**
 * Takes the lease of that name if it is free right now; never waits for its holder.
 * @param behind another lease that must be free too
 * @returns undefined while one of them is held
 * @throws Problem `unavailable`
 */
export async function tryLease(postgres: Postgres, name: string, behind?: string): Promise<Lease | undefined> {
  const owner = randomUUID()
  const asked = readClocks()
  const { taken } = await tryToAcquire(postgres, name, owner, behind)
  return taken && hold(postgres, name, owner, taken, asked)
}

/**
 * Takes it, then looks whether the one that it stands behind is somebody's; whoever takes that one looks for us after it
 * has it. Each is written before the other is read, so at least one sees the other. TRAP: not a transaction; a connection
 * that breaks within one ends the process (postgres 3.4: its rollback finds no socket).
 */
async function tryToAcquire(
  postgres: Postgres,
  name: string,
  owner: string,
  behind: string | undefined,
): Promise<{ taken?: LeaseRow; held: string }> {
  const [row] = await queryPostgres(postgres<LeaseRow[]>`
    INSERT INTO leases (name, owner, fence, expires_at)
    VALUES (${name}, ${owner}, 1, clock_timestamp() + ${leaseMs} * interval '1 millisecond')
    ON CONFLICT (name) DO UPDATE
    SET owner = excluded.owner, fence = leases.fence + 1, expires_at = excluded.expires_at
    WHERE leases.expires_at < clock_timestamp() OR leases.owner = ${owner}
    RETURNING fence, statement_deadline`)
  if (!row) return { held: name }
  if (behind !== undefined && (await isHeld(postgres, behind))) {
    await release(postgres, name, owner, row.statement_deadline)
    return { held: behind }
  }
  return { held: name, taken: row }
}

/** What a lease says of itself when it is acquired. */
interface LeaseRow {
  fence: string
  statement_deadline: Date | null
}

/**
 * Whether a lease has a holder. One that has run out is taken from them first: a holder whom nobody counts with must not
 * find it theirs again.
 * @param pattern a name, or the beginning of names and `%`
 */
export async function isHeld(postgres: Postgres, pattern: string): Promise<boolean> {
  await queryPostgres(postgres`
    UPDATE leases SET owner = ${noOwner}, fence = fence + 1
    WHERE name LIKE ${pattern} AND owner <> ${noOwner} AND expires_at < clock_timestamp()`)
  const held = await queryPostgres(postgres`
    SELECT 1 FROM leases WHERE name LIKE ${pattern} AND owner <> ${noOwner} LIMIT 1`)
  return held.length > 0
}

/** The owner of a lease that nobody has. */
const noOwner = ''

async function release(postgres: Postgres, name: string, owner: string, deadline: Date | null): Promise<void> {
  const release = postgres`
    UPDATE leases
    SET owner = ${noOwner}, expires_at = '-infinity',
      statement_deadline = ${deadline?.toISOString() ?? null}::timestamptz
    WHERE name = ${name} AND owner = ${owner}`
  await queryPostgres(release).catch(() => {})
}

/** Now, by two clocks: one stops while the machine sleeps, the other may be set back. */
function readClocks(): { wallMs: number; monotonicMs: number } {
  return { wallMs: Date.now(), monotonicMs: performance.now() }
}

function hold(
  postgres: Postgres,
  name: string,
  owner: string,
  taken: LeaseRow,
  asked: { wallMs: number; monotonicMs: number },
): Lease {
  const loss = new AbortController()
  let lastBeat = asked
  let statementDeadlineMs = taken.statement_deadline?.getTime()
  const beat = setInterval(() => {
    // Postgres may be away for a moment; whoever writes meanwhile asks for themselves.
    extend().catch(() => {})
  }, heartbeatMs)
  beat.unref()

  /** Milliseconds for which it is certainly still ours; below 0 it may have changed hands without our knowing. */
  function remainingMs(): number {
    const now = readClocks()
    return leaseMs - Math.max(now.wallMs - lastBeat.wallMs, now.monotonicMs - lastBeat.monotonicMs)
  }

  /** @param deadlineMs the statement deadline to record with it; an earlier one than the recorded changes nothing */
  async function extend(deadlineMs?: number): Promise<void> {
    const asked = readClocks()
    const deadline = deadlineMs === undefined ? null : new Date(deadlineMs).toISOString()
    const rows = await queryPostgres(postgres`
      UPDATE leases
      SET expires_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond',
        statement_deadline = greatest(statement_deadline, ${deadline}::timestamptz)
      WHERE name = ${name} AND owner = ${owner}
      RETURNING 1`)
    if (rows.length > 0) {
      lastBeat = asked
      if (deadlineMs !== undefined) statementDeadlineMs = Math.max(statementDeadlineMs ?? 0, deadlineMs)
      return
    }
    clearInterval(beat)
    loss.abort(new LeaseLost())
  }

  return {
    name,
    fence: BigInt(taken.fence),
    lost: loss.signal,
    get statementDeadlineMs() {
      return statementDeadlineMs
    },
    async assertHeld() {
      loss.signal.throwIfAborted()
      if (remainingMs() > 0) return
      await extend()
      loss.signal.throwIfAborted()
    },
    async recordStatementDeadline(deadlineMs) {
      await extend(deadlineMs)
      loss.signal.throwIfAborted()
    },
    async release(deadlineMs = statementDeadlineMs ?? null) {
      clearInterval(beat)
      await release(postgres, name, owner, deadlineMs === null ? null : new Date(deadlineMs))
    },
  }
}
