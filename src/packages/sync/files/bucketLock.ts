import { randomUUID } from 'node:crypto'
import { TemporaryError } from '../source/errors.ts'
import type { Objects } from './objects.ts'

/** Without renewal for so long, a lock ends. Its writer stops relying on it some time before. */
const lockMs = 60_000
const marginMs = 15_000
const renewMs = 15_000

const lockFile = '.tributary-sync-lock'

/**
 * Takes the lock of a prefix of a bucket, and renews it until it is released.
 * @throws TemporaryError when another writer has it
 */
export async function acquireBucketLock({ name, read, putIf, remove }: Objects) {
  const writer = randomUUID()
  /** When the last request that locked was sent. The monotonic clock may stand still while the machine sleeps; the other may be set. */
  let locked = { monotonicMs: 0, wallMs: 0 }
  /** The renewal that is running. */
  let renewal: Promise<void> | undefined
  await renew()
  // A renewal that fails is repeated before the next write.
  const renewing = setInterval(() => void renew().catch(() => {}), renewMs)

  return {
    /** Before each write. @throws as above */
    async assertHeld() {
      await renewal?.catch(() => {})
      const ageMs = Math.max(performance.now() - locked.monotonicMs, Date.now() - locked.wallMs)
      if (ageMs >= lockMs - marginMs) await renew()
    },
    async release() {
      clearInterval(renewing)
      await renewal?.catch(() => {})
      // The signal has ended the run, not this.
      const found = await read(lockFile, {}).catch(() => undefined)
      if (isOwn(found?.text)) await remove(lockFile, {}).catch(() => {})
    },
  }

  /** One at a time. */
  function renew(): Promise<void> {
    renewal ??= lock().finally(() => {
      renewal = undefined
    })
    return renewal
  }

  /** Its age is the difference of two times of the store, so the clocks of writers do not matter. */
  async function lock(): Promise<void> {
    const started = { monotonicMs: performance.now(), wallMs: Date.now() }
    const found = await read(lockFile)
    const isOver = found && found.ageMs >= lockMs
    if (found && !isOwn(found.text) && !isOver) refuse()
    // Each renewal has another text, and so another ETag: another writer that has read the lock before cannot replace it.
    const text = `${writer} ${randomUUID()}`
    await putIf(lockFile, text, found ? { IfMatch: found.etag } : { IfNoneMatch: '*' })
    if ((await read(lockFile))?.text !== text) refuse()
    locked = started
  }

  function isOwn(text: string | undefined): boolean {
    return text?.split(' ')[0] === writer
  }

  function refuse(): never {
    locked = { monotonicMs: 0, wallMs: 0 }
    throw new TemporaryError(
      `another tributary-sync writes to ${name}; stop it. The lock of a killed one ends after ${lockMs / 1_000} s.`,
    )
  }
}
