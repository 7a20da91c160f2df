import { mkdir, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { refuseExisting, writeFile } from '../export/outputFile.ts'
import { damageAdvice, describeDamage } from '../stores/clickhouse/damagedData.ts'
import { findDamagedParts } from '../stores/clickhouse/damagedParts.ts'
import { createEmbeddedPaths } from '../stores/embedded/paths.ts'
import { CopyTooSlow, copyEngines } from '../stores/embedded/snapshot.ts'
import { missingEngines, openStores } from '../stores/open.ts'
import {
  contentsName,
  flush,
  flushContents,
  type Manifest,
  manifestName,
  manifestOf,
  readContents,
} from './backupFolder.ts'
import type { Command, CommandContext } from './context.ts'
import { CommandError, explainExpected } from './errors.ts'
import { requireEmbedded, storeLocation } from './storeLocation.ts'

/** Under load a copy may exceed its limit; the next one finds the files in memory. */
const attemptsMax = 5
/** Clients of Postgres wait for up to this time during the first attempt, and during each later one for as long again. */
const heldMs = 8_000
/** Meanwhile these clients are served. */
const pauseMs = 5_000

export function addBackupCommand(program: Command, context: CommandContext): void {
  program
    .command('backup')
    .description('Copy the embedded store to a new folder, while a server and imports use it.')
    .argument('<folder>', 'new folder outside DATA_DIR; it appears once the backup is complete')
    .notes(`
The backup has everything that was acknowledged before it began. Requests that need Postgres wait while its files are copied, usually for
less than a second; if this takes 8 s, they are served for 5 s before the next attempt. Each of at most ${attemptsMax} attempts may
take 8 s more than the one before. The files are written to FOLDER.incomplete first. A killed backup leaves that folder: remove it, or use the same name
again. Run the command as the user of the server; only that user can read the backup, which contains hashes of keys and personal data.
Databases on servers have their own commands: docs/restore.md.`)
    .example('tributary backup /backups/2026-11-21')
    .action(async (folder: string) => {
      const { takenAt, files } = await backUp(context, resolve(folder))
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
      context.print(
        { backup: resolve(folder), takenAt, files: files.length, bytes },
        `${storeLocation(context.settings)} was copied to ${folder}: ${files.length} files, ${bytes} bytes. Everything acknowledged before ${takenAt} is in it.`,
      )
    })
}

async function backUp(context: CommandContext, folder: string): Promise<Manifest> {
  const { settings, interrupted: signal } = context
  requireEmbedded(settings)
  if (missingEngines(settings).length > 0) throw new CommandError(`there is no store in ${storeLocation(settings)}.`)
  await refuseExisting(folder)
  const paths = createEmbeddedPaths(settings.DATA_DIR)
  const part = `${folder}.incomplete`
  // An optional package is needed for it, and other commands run without the package.
  const { lockFile } = await import('../stores/embedded/fileLock.ts')
  const release = await lockFile(join(paths.run, 'backup.lock'), 0)
  if (!release) throw new CommandError('another backup of this store is running; run the command again after it.')
  try {
    if (`${await realpath(dirname(folder))}${sep}`.startsWith(`${paths.dataDir}${sep}`)) {
      throw new CommandError('the folder is in DATA_DIR, and would be lost with it; choose another one')
    }
    let takenAt = new Date()
    // Not migrated: a backup comes before an upgrade.
    const stores = await openStores(settings, context.printWarning, { mayCreate: false })
    try {
      for await (const part of findDamagedParts([stores.clickhouse.client], 0, signal)) {
        throw new CommandError(`ClickHouse cannot read ${describeDamage(part)}. ${damageAdvice}`)
      }
      for (let attempt = 1; ; attempt += 1) {
        await rm(part, { recursive: true, force: true })
        await mkdir(join(part, contentsName), { recursive: true, mode: 0o700 })
        takenAt = new Date()
        try {
          await copyEngines(stores, paths, join(part, contentsName), attempt * heldMs, signal)
          break
        } catch (error) {
          if (!(error instanceof CopyTooSlow) || attempt >= attemptsMax) throw error
          context.printStatus(`${error.message}; trying again (${attempt + 1} of ${attemptsMax}).`)
        }
        await pause(pauseMs, undefined, { signal })
      }
    } finally {
      await stores.close()
    }
    const contents = await readContents(join(part, contentsName), signal)
    await flushContents(join(part, contentsName), contents)
    const manifest = manifestOf(takenAt, contents)
    const content = Readable.from([Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`)])
    await writeFile(join(part, manifestName), content, { isGzipped: false, signal })
    await flush(part)
    await rename(part, folder)
    await flush(dirname(folder))
    return manifest
  } catch (error) {
    await rm(part, { recursive: true, force: true }).catch(() => {})
    throw explainExpected(error, signal, 'No backup was written: run the command again.')
  } finally {
    release()
  }
}
