import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Postgres } from './postgres.ts'

/** A lease in hand: proof, at each use, that nobody else does the same work. */
export interface Lease {
  readonly name: string
  /** Grows at every change of hands; whatever is written under the lease is conditional on it. */
  readonly fence: bigint
  /** Aborts when the lease is lost: another holder may be at work from then on. */
  readonly lost: AbortSignal
  /**
   * Milliseconds for which it is certainly still ours; below 0 it may have changed hands without our knowing, as after
   * a machine slept. Ask right before anything that the next holder could not undo.
   */
  remainingMs(): number
  /** Lets go at once, so that the next one need not wait for the expiry. */
  release(): Promise<void>
}

/** A holder that was killed blocks the next one for at most this long. */
const lifeMs = 10_000
const heartbeatMs = 2_500
const retryMs = 250

/**
 * Takes the lease of that name, waiting for its holder to release it or to expire.
 * Holders are told apart by the database's clock alone.
 * @param onWait called once, before the first wait
 * @param signal ends the wait
 * @throws the reason of `signal`
 */
export async function takeLease(
  postgres: Postgres,
  name: string,
  { onWait, signal }: { onWait?: () => void; signal?: AbortSignal } = {},
): Promise<Lease> {
  const owner = randomUUID()
  let asked = moment()
  let fence = await tryToTake(postgres, name, owner)
  if (fence === undefined) onWait?.()
  while (fence === undefined) {
    signal?.throwIfAborted()
    await pause(retryMs)
    asked = moment()
    fence = await tryToTake(postgres, name, owner)
  }
  return hold(postgres, name, owner, fence, asked)
}

async function tryToTake(postgres: Postgres, name: string, owner: string): Promise<bigint | undefined> {
  const [row] = await postgres<{ fence: string }[]>`
    INSERT INTO leases (name, owner, fence, expires_at)
    VALUES (${name}, ${owner}, 1, clock_timestamp() + ${lifeMs} * interval '1 millisecond')
    ON CONFLICT (name) DO UPDATE
    SET owner = excluded.owner, fence = leases.fence + 1, expires_at = excluded.expires_at
    WHERE leases.expires_at < clock_timestamp()
    RETURNING fence`
  return row && BigInt(row.fence)
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
    void extend()
  }, heartbeatMs)
  beat.unref()

  function remainingMs(): number {
    const now = moment()
    return lifeMs - Math.max(now.wallMs - lastBeat.wallMs, now.monotonicMs - lastBeat.monotonicMs)
  }

  async function extend(): Promise<void> {
    const asked = moment()
    try {
      const rows = await postgres`
        UPDATE leases
        SET expires_at = clock_timestamp() + ${lifeMs} * interval '1 millisecond'
        WHERE name = ${name} AND owner = ${owner} AND expires_at >= clock_timestamp()
        RETURNING 1`
      if (rows.length === 0) lose()
      else lastBeat = asked
    } catch {
      // Postgres may be away for a moment; the lease is ours until it would have expired.
      if (remainingMs() < 0) lose()
    }
  }

  function lose(): void {
    clearInterval(beat)
    loss.abort(new Error(`The lease ${name} was lost: another writer may be at work.`))
  }

  return {
    name,
    fence,
    lost: loss.signal,
    remainingMs,
    async release() {
      clearInterval(beat)
      await postgres`UPDATE leases SET expires_at = '-infinity' WHERE name = ${name} AND owner = ${owner}`
    },
  }
}
