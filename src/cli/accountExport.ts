import { mkdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { readAccountKeys } from '../accounts/keyTransfer.ts'
import { readRetentionSetting } from '../accounts/retention.ts'
import { type ExportedFile, fileOf, folderFormat, type Manifest, manifestName } from '../export/accountFolder.ts'
import { refuseExisting, writeFile } from '../export/outputFile.ts'
import { exportRows } from '../export/run.ts'
import { resourceNames } from '../import/resourceNames.ts'
import { commit, version } from '../package.ts'
import { listErasures } from '../writer/erasure/erasures.ts'
import { keptTables, readRemovedSums } from '../writer/retention/removedSums.ts'
import type { Command, CommandContext } from './context.ts'
import { accountOption } from './options.ts'
import { readAccountFolder } from './readAccountFolder.ts'

export function addAccountExportCommand(account: Command, context: CommandContext): void {
  account
    .command('export')
    .description('Write an account with its keys and all its rows to a new folder that account import reads.')
    .addOption(accountOption())
    .requiredOption('--output <folder>', 'new folder; it appears once the export is complete')
    .notes(`
Imports into the account wait until the export has finished. The rows are written to FOLDER.incomplete first, and checked as
account import checks them; a failed export leaves that folder, and the next one replaces it. Keys are exported as hashes, so that they remain
valid after an import into another installation. Only the user that runs the command can read the folder.`)
    .example('tributary account export --account acme --output acme-2026-11')
    .action(async ({ account: id, output }: { account: string; output: string }) => {
      const manifest = await exportAccount(context, id, resolve(output))
      const rows = Object.fromEntries(resourceNames.map((name) => [name, manifest.files[name]?.rows ?? 0]))
      const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
      context.print(
        { account: id, rows, keys: manifest.keys.length },
        `${total} rows and ${manifest.keys.length} keys of account ${id} written to ${output}.`,
      )
    })
}

/** Exports under the lease of the account, so that clicks and conversions agree with each other. */
async function exportAccount(context: CommandContext, id: string, folder: string): Promise<Manifest> {
  const { stores, account } = await context.openAccount(id)
  await refuseExisting(folder)
  const part = `${folder}.incomplete`
  return await context.withWriter(id, async (writer) => {
    const { signal } = writer
    await rm(part, { recursive: true, force: true })
    await mkdir(part, { mode: 0o700 })
    const write = async (name: string, chunks: AsyncIterable<Buffer>): Promise<ExportedFile> => {
      const { rows, sha256 } = await writeFile(join(part, fileOf(name)), chunks, { isGzipped: true, signal })
      return { rows, sha256 }
    }
    const files: Partial<Manifest['files']> = {}
    for (const resource of resourceNames) {
      const query = { resource, accountId: id, currency: account.currency, range: {} }
      const rows = exportRows(stores, { ...query, format: 'ndjson', withInternal: true }, signal)
      files[resource] = await write(resource, rows)
    }
    const { clicksMs, eventsMs } = await writer.readRetained()
    const removed: Manifest['retained']['files'] = {}
    for (const table of clicksMs > 0 ? keptTables : [])
      removed[table] = await write(table, readRemovedSums(writer, table, clicksMs))
    const setting = await readRetentionSetting(stores.postgres, id)
    const momentOf = (ms: number) => (ms > 0 ? new Date(ms).toISOString() : null)
    const manifest: Manifest = {
      format: folderFormat,
      program: { version, commit },
      account: { ...account, createdAt: account.createdAt.toISOString() },
      keys: await readAccountKeys(stores.postgres, id),
      erasures: (await listErasures(stores.postgres, id)).map(({ account: _account, ...erasure }) => erasure),
      retained: {
        clickMonths: setting?.clickMonths ?? null,
        eventMonths: setting?.eventMonths ?? null,
        clicksFrom: momentOf(clicksMs),
        eventsFrom: momentOf(eventsMs),
        files: removed,
      },
      files: files as Manifest['files'],
    }
    const bytes = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
    await writeFile(join(part, manifestName), Readable.from([bytes]), { isGzipped: false, signal })
    // What an import would refuse is reported while the account still exists here.
    await readAccountFolder(part, signal)
    // A process that was suspended would otherwise complete an export during which another writer changed rows.
    await writer.lease.assertHeld()
    await rename(part, folder)
    return manifest
  })
}
