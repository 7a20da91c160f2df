import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { askPostgres, type Postgres } from './postgres.ts'

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
   * Makes sure that it is ours; for the most part without asking. Call it right before anything that the next holder could
   * not undo. One that has run out, as while Postgres was away or the machine slept, is ours still if nobody took it.
   * @throws LeaseLost, or Problem `unavailable` when Postgres does not say whose it is
   */
  confirm(): Promise<void>
  /** Lets go at once, so that the next one need not wait for the expiry; while Postgres is away they have to. */
  release(): Promise<void>
}

/** How a lease is waited for. */
export interface LeaseWish {
  /** Another lease, which must be nobody's: while somebody has it, this one is not given. */
  behind?: string
  /** Called once, before the first wait. @param held the lease that is somebody else's: the wanted one, or `behind` */
  onWait?: (held: string) => void
  /** Ends the wait. */
  signal?: AbortSignal
}

/** A holder that was killed blocks the next one for at most this long. */
const lifeMs = 10_000
const heartbeatMs = 2_500
const retryMs = 250

/**
 * Takes the lease of that name, waiting for its holder to release it or to expire.
 * Holders are told apart by the database's clock alone.
 * @throws the reason of `signal`, or Problem `unavailable`
 */
export async function takeLease(
  postgres: Postgres,
  name: string,
  { behind, onWait, signal }: LeaseWish = {},
): Promise<Lease> {
  const owner = randomUUID()
  for (let isFirst = true; ; isFirst = false) {
    const asked = moment()
    const { fence, held } = await askPostgres(tryToTake(postgres, name, owner, behind))
    if (fence !== undefined) return hold(postgres, name, owner, fence, asked)
    if (isFirst) onWait?.(held)
    signal?.throwIfAborted()
    await pause(retryMs)
    signal?.throwIfAborted()
  }
}

/** One taker at a time, or one that looks at `behind` could miss somebody who is just taking that. */
async function tryToTake(
  postgres: Postgres,
  name: string,
  owner: string,
  behind: string | undefined,
): Promise<{ fence?: bigint; held: string }> {
  return await postgres.begin(async (sql) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('tributary leases'))`
    const [before] = behind
      ? await sql`SELECT 1 FROM leases WHERE name = ${behind} AND expires_at >= clock_timestamp()`
      : []
    if (behind && before) return { held: behind }
    const [row] = await sql<{ fence: string }[]>`
      INSERT INTO leases (name, owner, fence, expires_at)
      VALUES (${name}, ${owner}, 1, clock_timestamp() + ${lifeMs} * interval '1 millisecond')
      ON CONFLICT (name) DO UPDATE
      SET owner = excluded.owner, fence = leases.fence + 1, expires_at = excluded.expires_at
      WHERE leases.expires_at < clock_timestamp()
      RETURNING fence`
    return { held: name, ...(row && { fence: BigInt(row.fence) }) }
  })
}

/** Now, by two clocks: one stops while the machine sleeps, the other may be set back. */
function moment(): { wallMs: number; monotonicMs: number } {
  return { wallMs: Date.now(), monotonicMs: performance.now() }
}

function hold(
  postgres: Postgres,
  name: string,
  owner: string,
  fence: bigint,
  taken: { wallMs: number; monotonicMs: number },
): Lease {
  const loss = new AbortController()
  let lastBeat = taken
  const beat = setInterval(() => {
    // Postgres may be away for a moment; whoever writes meanwhile asks for themselves.
    extend().catch(() => {})
  }, heartbeatMs)
  beat.unref()

  /** Milliseconds for which it is certainly still ours; below 0 it may have changed hands without our knowing. */
  function remainingMs(): number {
    const now = moment()
    return lifeMs - Math.max(now.wallMs - lastBeat.wallMs, now.monotonicMs - lastBeat.monotonicMs)
  }

  async function extend(): Promise<void> {
    const asked = moment()
    const rows = await askPostgres(postgres`
      UPDATE leases
      SET expires_at = clock_timestamp() + ${lifeMs} * interval '1 millisecond'
      WHERE name = ${name} AND owner = ${owner}
      RETURNING 1`)
    if (rows.length > 0) {
      lastBeat = asked
      return
    }
    clearInterval(beat)
    loss.abort(new LeaseLost())
  }

  return {
    name,
    fence,
    lost: loss.signal,
    async confirm() {
      loss.signal.throwIfAborted()
      if (remainingMs() > 0) return
      await extend()
      loss.signal.throwIfAborted()
    },
    async release() {
      clearInterval(beat)
      const release = postgres`UPDATE leases SET expires_at = '-infinity' WHERE name = ${name} AND owner = ${owner}`
      await askPostgres(release).catch(() => {})
    },
  }
}
