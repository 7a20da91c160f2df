import { fstatSync, fsyncSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'

/** Opens PGlite on the folder of a database, with durable writes. */
export async function openSession(folder: string): Promise<PGlite> {
  const files = new FlushedFiles(folder)
  const session = new BreakablePGlite({ fs: files, startParams })
  await session.whenStarted()
  files.started = true
  return session
}

const startParams = [
  // Without -F, PGlite's default, which turns fsync off.
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

/**
 * A file system with a working fsync, which Emscripten's lacks. During a start Postgres flushes each of its 2,000 files, for 2
 * to 6 s; that is unnecessary, since the log repeats later writes. So until then only files written by this process are
 * flushed.
 */
class FlushedFiles extends NodeFS {
  started = false

  override async init(...[session, options]: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const flush = (mod: EmscriptenFiles) => {
      const files = mod.FS.filesystems.NODEFS.stream_ops
      const { write } = files
      const written = new Set<number>()
      const seen = new WeakSet<OpenFile>()
      files.write = (file, ...bytes) => {
        if (!this.started && !seen.has(file)) {
          seen.add(file)
          written.add(fstatSync(file.nfd).ino)
        }
        return write(file, ...bytes)
      }
      files.fsync = (file) => {
        if (this.started || mayBeWritten(file)) fsyncSync(file.nfd)
        return 0
      }
      const mayBeWritten = ({ nfd }: OpenFile) => {
        const found = fstatSync(nfd)
        return found.isDirectory() || written.has(found.ino)
      }
    }
    // The types of preRun name neither the module it is given nor its file systems.
    const preRun = [...[options.preRun ?? []].flat(), flush as unknown as () => void]
    return super.init(session, { ...options, preRun })
  }
}

/** A file that Emscripten has open; `nfd` is the descriptor in Node. */
type OpenFile = { nfd: number }

interface FileOperations {
  write(file: OpenFile, buffer: Uint8Array, offset: number, length: number, position: number): number
  fsync?(file: OpenFile): number
}

type EmscriptenFiles = { FS: { filesystems: { NODEFS: { stream_ops: FileOperations } } } }

/**
 * Ends this process when the engine breaks, as by a stack overflow in nested JSON; the supervisor restarts it.
 * TRAP: PGlite ignores what a broken engine throws and calls it again, for ever. Only errors of statements have an exit status.
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
