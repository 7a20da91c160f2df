import { join } from 'node:path'
import { reasonOf } from '../timing/periodic.ts'
import { lockFile } from './fileLock.ts'
import { type EmbeddedPaths, embeddedPathsOf } from './paths.ts'
import type { Address, EngineName, EngineNotice } from './protocol.ts'

/** The engine of a killed supervisor may still be ending. */
const lockTimeoutMs = 10_000

/**
 * Runs an engine in this process, whose argument is the folder, and reports to the supervisor.
 * @param start rejects with the reason, one sentence
 * @param end ends this process when the supervisor requests it, by SIGTERM
 * @param die ends this process at once: the supervisor has died, or the engine does not start
 */
export function runEngine(
  name: EngineName,
  start: (paths: EmbeddedPaths) => Promise<Address>,
  end: () => void,
  die: () => void,
): void {
  const notify = (notice: EngineNotice, sent = () => {}) => process.send?.(notice, sent)
  process.on('disconnect', die)
  // TRAP: the event of a supervisor that died while the modules were loading is lost.
  if (!process.connected) die()
  process.on('SIGTERM', end)
  const run = async () => {
    const paths = embeddedPathsOf(process.argv[2] ?? '')
    // TRAP: two PGlites on one folder corrupt it, and PGlite itself does not notice.
    if (!(await lockFile(join(paths.run, `${name}.lock`), lockTimeoutMs))) {
      throw new Error('another process still uses its folder')
    }
    notify({ kind: 'ready', address: await start(paths) })
  }
  run().catch((error: unknown) => notify({ kind: 'failed', message: reasonOf(error).replace(/\.$/, '') }, die))
}
