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
 */
export async function takeLease(postgres: Postgres, name: string, onWait: () => void = () => {}): Promise<Lease> {
  const owner = randomUUID()
  let fence = await tryToTake(postgres, name, owner)
  if (fence === undefined) onWait()
  while (fence === undefined) {
    await pause(retryMs)
    fence = await tryToTake(postgres, name, owner)
  }
  return hold(postgres, name, owner, fence)
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

function hold(postgres: Postgres, name: string, owner: string, fence: bigint): Lease {
  const loss = new AbortController()
  let lastBeat = Date.now()
  const beat = setInterval(() => {
    void extend()
  }, heartbeatMs)
  beat.unref()

  async function extend(): Promise<void> {
    try {
      const rows = await postgres`
        UPDATE leases
        SET expires_at = clock_timestamp() + ${lifeMs} * interval '1 millisecond'
        WHERE name = ${name} AND owner = ${owner} AND expires_at >= clock_timestamp()
        RETURNING 1`
      if (rows.length === 0) lose()
      else lastBeat = Date.now()
    } catch {
      // Postgres may be away for a moment; the lease is ours until it would have expired.
      if (Date.now() - lastBeat > lifeMs) lose()
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
    async release() {
      clearInterval(beat)
      await postgres`UPDATE leases SET expires_at = '-infinity' WHERE name = ${name} AND owner = ${owner}`
    },
  }
}
