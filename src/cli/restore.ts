import { existsSync, readdirSync } from 'node:fs'
import { cp, mkdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createEmbeddedPaths, embeddedPathsOf } from '../stores/embedded/paths.ts'
import { engineNames } from '../stores/embedded/protocol.ts'
import { checkContents, contentsName, flush, flushContents, type Manifest, readBackup } from './backupFolder.ts'
import type { Command, CommandContext } from './context.ts'
import { CommandError, explainExpected } from './errors.ts'
import { requireEmbedded, storeLocation } from './storeLocation.ts'
import { verifyAccounts } from './verify.ts'

const enginesEndMs = 60_000

export function addRestoreCommand(program: Command, context: CommandContext): void {
  program
    .command('restore')
    .description('Restore a backup into an empty DATA_DIR, and run verify --repair on it.')
    .argument('<folder>', 'folder that backup wrote; it is only read')
    .notes(`
Stop the server of DATA_DIR first, and run the command as the user of the server. The files are compared with their SHA-256 before
anything is written. A backup of an earlier version is migrated. No server can open the store before verify --repair has ended: run an
interrupted restore again. Before the server starts, repeat what was done after the backup: erasures from the saved list, revoked keys,
deleted accounts (docs/restore.md).`)
    .example('DATA_DIR=/srv/data tributary restore /backups/2026-11-21')
    .action(async (folder: string) => {
      requireEmbedded(context.settings)
      const manifest = await readBackup(resolve(folder), context.interrupted)
      const advice = await restore(context, join(resolve(folder), contentsName), manifest)
      context.printStatus(
        `Restored to ${storeLocation(context.settings)}: everything acknowledged before ${manifest.takenAt}.`,
      )
      if (advice !== undefined) throw new CommandError(advice)
    })
}

/**
 * Restores into a folder below `DATA_DIR` first: while it exists, the engines of `DATA_DIR` refuse to start.
 * @returns what to do about the remaining differences, if any
 */
async function restore(context: CommandContext, contents: string, manifest: Manifest): Promise<string | undefined> {
  const { settings, interrupted: signal } = context
  const { clickhouse, dataDir, postgres, restoring, run, supervisorLock } = createEmbeddedPaths(settings.DATA_DIR)
  const place = `DATA_DIR=${settings.DATA_DIR}`
  const { lockFile } = await import('../stores/embedded/fileLock.ts')
  const release = await lockFile(supervisorLock, 0)
  if (!release) throw new CommandError(`${place} is in use: stop its server, or restore into another folder.`)
  try {
    if (existsSync(restoring)) {
      await waitForEngines(restoring)
      for (const path of [clickhouse, postgres, restoring]) await rm(path, { recursive: true, force: true })
    } else if ([clickhouse, postgres].some((path) => existsSync(path) && readdirSync(path).length > 0)) {
      throw new CommandError(`${place} has a store; restore into an empty folder.`)
    }
    for (const name of ['', ...manifest.folders]) await mkdir(join(restoring, name), { recursive: true, mode: 0o700 })
    await cp(contents, restoring, { recursive: true, filter: () => !signal.aborted })
    signal.throwIfAborted()
    await checkContents(restoring, manifest, signal)
    await flushContents(restoring, manifest)
    await flush(dataDir)
    const restored = context.withDataDir(restoring)
    const advice = await verifyAccounts(restored, { repair: true }).finally(() => restored.close())
    await waitForEngines(restoring)
    for (const name of ['run/clickhouse.json', 'postgres', 'clickhouse']) {
      await rename(join(restoring, name), join(dataDir, name))
    }
    for (const path of [run, dataDir]) await flush(path)
    await rm(restoring, { recursive: true })
    return advice
  } catch (error) {
    if (!existsSync(restoring)) throw error
    throw explainExpected(error, signal, `The restore into ${place} is incomplete: run it again.`)
  } finally {
    release()
  }
}

/** Engines end a few seconds after their last client. TRAP: running ones would write to a folder that replaces theirs. */
async function waitForEngines(dataDir: string): Promise<void> {
  const { lockFile } = await import('../stores/embedded/fileLock.ts')
  const { run, supervisorLock } = embeddedPathsOf(dataDir)
  await mkdir(run, { recursive: true, mode: 0o700 })
  for (const lock of [supervisorLock, ...engineNames.map((name) => join(run, `${name}.lock`))]) {
    const release = await lockFile(lock, enginesEndMs)
    if (!release) throw new CommandError(`the engines of ${dataDir} do not end.`)
    release()
  }
}
