import { fsyncSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'

/** Opens PGlite on a folder that holds a database, as one that may be relied on. */
export async function openSession(folder: string): Promise<PGlite> {
  const session = new BreakablePGlite({ fs: new FlushedFiles(folder), startParams })
  await session.whenStarted()
  return session
}

const startParams = [
  // Without -F, which is PGlite's own choice and turns fsync off.
  ...PGlite.defaultStartParams.filter((param) => param !== '-F'),
  ...[
    // Emscripten has no fdatasync.
    'wal_sync_method=fsync',
    'shared_buffers=32MB',
    'min_wal_size=32MB',
    'max_wal_size=64MB',
    'wal_level=minimal',
    'max_wal_senders=0',
  ].flatMap((setting) => ['-c', setting]),
]

/** Files of the disk with an fsync that flushes: Emscripten's own do not have one, so that Postgres' calls do nothing. */
class FlushedFiles extends NodeFS {
  override async init(...[session, options]: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const flush = (mod: EmscriptenFiles) => {
      mod.FS.filesystems.NODEFS.stream_ops.fsync = (stream) => {
        fsyncSync(stream.nfd)
        return 0
      }
    }
    // The types of preRun name neither the module it is given nor its file systems.
    const preRun = [...[options.preRun ?? []].flat(), flush as unknown as () => void]
    return super.init(session, { ...options, preRun })
  }
}

interface EmscriptenFiles {
  FS: { filesystems: { NODEFS: { stream_ops: { fsync?: (stream: { nfd: number }) => number } } } }
}

/**
 * PGlite, but this process ends when the engine breaks, for instance by a stack overflow in deeply nested JSON; it is
 * started again. TRAP: PGlite itself swallows what a broken engine throws and calls it again, for ever. What it throws in
 * order, an error of a statement, is an exit status.
 */
class BreakablePGlite extends PGlite {
  async whenStarted(): Promise<void> {
    await this.waitReady
    const { mod } = this
    if (!mod) throw new Error('PGlite has no engine')
    const once = mod._PostgresMainLoopOnce
    mod._PostgresMainLoopOnce = () => {
      try {
        once()
      } catch (error) {
        if ((error as { status?: number }).status !== undefined) throw error
        console.error(`the session broke: ${error}`)
        process.exit(1)
      }
    }
  }
}
