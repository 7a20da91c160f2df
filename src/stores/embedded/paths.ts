import { createHash } from 'node:crypto'
import { accessSync, chmodSync, constants, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ExpectedError } from '../../expectedError.ts'

/** An embedded engine cannot be used; the message is one line and names the setting to change. */
export class EmbeddedError extends ExpectedError {}

export type EmbeddedPaths = ReturnType<typeof embeddedPathsOf>

/** Bytes of a socket path that fit everywhere: the kernel's limit is 108 with the closing zero on Linux, 104 on macOS. */
const socketPathMax = 100

/** Creates missing folders and verifies that they are writable. @throws EmbeddedError `DATA_DIR=…: …` */
export function createEmbeddedPaths(dataDir: string): EmbeddedPaths {
  try {
    mkdirSync(resolve(dataDir), { recursive: true, mode: 0o700 })
    const paths = embeddedPathsOf(realpathSync(dataDir))
    refuseShared(paths.dataDir, dataDir)
    for (const folder of [paths.clickhouse, paths.run]) {
      mkdirSync(folder, { recursive: true })
      chmodSync(folder, 0o700)
    }
    accessSync(paths.run, constants.W_OK)
    if (paths.sockets !== paths.run) createPrivateFolder(paths.sockets)
    return paths
  } catch (error) {
    if (error instanceof EmbeddedError) throw error
    throw new EmbeddedError(`DATA_DIR=${dataDir}: ${(error as Error).message}.`)
  }
}

/** Others who may write in the folder could replace the engines' folders. Groups count as others. @throws EmbeddedError */
function refuseShared(folder: string, dataDir: string): void {
  const { uid, mode } = statSync(folder)
  const own = process.getuid?.() ?? 0
  if (own !== 0 && uid !== own && uid !== 0) {
    throw new EmbeddedError(`DATA_DIR=${dataDir}: the folder belongs to another user; choose one of your own.`)
  }
  if ((mode & 0o022) !== 0) {
    throw new EmbeddedError(
      `DATA_DIR=${dataDir}: its group or all users may write in the folder; run: chmod go-w ${folder}, or choose another folder.`,
    )
  }
}

/** @returns the same paths in every process, independent of its environment */
export function embeddedPathsOf(dataDir: string) {
  /** Lock files and generated configuration; readable by its owner only. */
  const run = join(dataDir, 'run')
  const longest = join(run, clickhouseSocketName('00000000'))
  /** Folder of the sockets: a shorter path when `run` is too long for a socket address. */
  const sockets = Buffer.byteLength(longest) <= socketPathMax ? run : shortFolder(dataDir)
  return {
    dataDir,
    clickhouse: join(dataDir, 'clickhouse'),
    postgres: join(dataDir, 'postgres'),
    run,
    /** Held by the supervisor of the folder, and by a restore into it. */
    supervisorLock: join(run, 'supervisor.lock'),
    /** Exists during a restore, and after an interrupted one. */
    restoring: join(dataDir, 'restore.incomplete'),
    sockets,
    controlSocket: join(sockets, 'control.sock'),
    postgresSocket: join(sockets, 'postgres.sock'),
    log: join(dataDir, 'embedded.log'),
    clickhouseLog: join(dataDir, 'clickhouse', 'clickhouse.log'),
  }
}

/** @param start eight hexadecimal digits that name one start of the engine */
export const clickhouseSocketName = (start: string): string => `clickhouse-${start}.sock`

export const isClickHouseSocket = (name: string): boolean => /^clickhouse-[0-9a-f]{8}\.sock$/.test(name)

/** TRAP: not os.tmpdir(), which follows TMPDIR: two clients with different environments would not meet. */
function shortFolder(dataDir: string): string {
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  return join('/tmp', `tributary-${process.getuid?.() ?? 0}-${name}`)
}

/** Any user may write in /tmp, so a folder of another user, or a link, is rejected. */
function createPrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) {
    throw new EmbeddedError(
      `DATA_DIR: its path is too long for a socket, and ${folder} is not a private folder of this user.`,
    )
  }
}
