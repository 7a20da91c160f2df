import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { type Account, createAccount, findInterruptedImport } from '../accounts/accounts.ts'
import { countKeysOfOthers, storeKeys } from '../accounts/keyTransfer.ts'
import { fileOf, type Manifest } from '../export/accountFolder.ts'
import { noMapping } from '../import/readers/mapping.ts'
import { type ResourceName, resourceNames } from '../import/resourceNames.ts'
import { emptyTally } from '../import/tally.ts'
import type { Stores } from '../stores/open.ts'
import { completeErasures } from '../writer/erasure/completeErasures.ts'
import { addErasures, markErasures, pagesOfErasures } from '../writer/erasure/erasures.ts'
import type { Writer } from '../writer/fence/session.ts'
import { storeRemovedSums } from '../writer/retention/removedSums.ts'
import type { Command, CommandContext } from './context.ts'
import { assertCreatable } from './creatable.ts'
import { CommandError } from './errors.ts'
import { importFile } from './import.ts'
import { readAccountFolder } from './readAccountFolder.ts'

export function addAccountImportCommand(account: Command, context: CommandContext): void {
  account
    .command('import')
    .description('Create an account from a folder that account export wrote, with its keys and rows.')
    .argument('<folder>', 'folder that account export wrote')
    .notes(`
The files are checked before anything is stored. Keys are stored last, so that clients never read a part of the rows. If the
import is interrupted, run it again to complete it. The rows get new times of storage (storedAt). Clicks, costs and events of months that
the account had removed are rejected: each is printed with the reason, and the others are stored.`)
    .example('tributary account import acme-2026-11')
    .action((folder: string) => importAccount(context, folder))
}

async function importAccount(context: CommandContext, folder: string): Promise<void> {
  const { manifest, sha256, leftOut } = await readAccountFolder(folder, context.interrupted)
  const unknown = [...leftOut].join(', ')
  if (unknown)
    context.printStatus(`Left out what only version ${manifest.program.version} or a later one knows: ${unknown}.`)
  const stores = await context.openStores()
  const account = await openAccount(stores, manifest, sha256)
  await importBeforeRows(context, folder, manifest)
  const rows: Partial<Record<ResourceName, number>> = {}
  const rejected: typeof rows = {}
  const prepare = (writer: Writer) => reopenLaterErasures(writer, manifest.erasures)
  const mapping = { ...noMapping, ignoreUnknown: true }
  // Rows of removed months are rejected, as by any import; another rejected row is an error.
  const moved = { account, prepare, mapping, isMoved: true, rejects: undefined, rejectLimit: { rows: 0 } }
  for (const resource of resourceNames) {
    if (!manifest.files[resource]) continue
    const source = { path: join(folder, fileOf(resource)), format: { isCsv: false, isGzipped: true } }
    const tally = emptyTally()
    await importFile(context, stores, { ...moved, resource, source, nowMs: Date.now() }, tally)
    rows[resource] = tally.read - tally.rejected
    if (tally.rejected > 0) rejected[resource] = tally.rejected
  }
  const { id } = account
  // Before the keys: no client reads what the last file still has of erased visitors.
  await context.withWriter(id, (writer) => completeErasures(writer, { ifStillRead: 'leave' }))
  const stored = await storeKeys(stores.postgres, id, manifest.keys)
  if (stored < manifest.keys.length) throw keysOfOthers(manifest.keys.length - stored, id)
  const counts = Object.entries(rejected).map(
    ([resource, count]) => ` ${resource} of removed months rejected: ${count}.`,
  )
  context.print(
    { account: id, rows, rejected, keys: stored, leftOut: [...leftOut] },
    `Account ${id} was imported from ${folder}.${counts.join('')}`,
  )
}

/**
 * Marks the erasures as incomplete if one of them is later than the export. The files still have the personal fields of these visitors and
 * clicks; the next writer blanks the stored rows, also after a kill of this import.
 */
async function reopenLaterErasures(writer: Writer, exported: Manifest['erasures']): Promise<void> {
  const exportedMs = new Map(exported.map(({ hash, erasedAt }) => [hash, Date.parse(erasedAt)]))
  for await (const page of pagesOfErasures(writer, 'all')) {
    if (page.every(({ hash, erasedMs }) => erasedMs <= (exportedMs.get(hash) ?? 0))) continue
    await markErasures(writer, false)
    return
  }
}

function keysOfOthers(count: number, id: string): CommandError {
  return new CommandError(`${count} keys of account ${id} belong to other accounts here.`)
}

/** Creates the account, or finds it after an interrupted import of the same manifest. */
async function openAccount({ postgres }: Stores, manifest: Manifest, importOf: string): Promise<Account> {
  const { account: exported, retained: retention, keys } = manifest
  const ofOthers = await countKeysOfOthers(postgres, exported.id, keys)
  if (ofOthers > 0) throw keysOfOthers(ofOthers, exported.id)
  const createdAt = new Date(exported.createdAt)
  const created = await createAccount(postgres, { ...exported, createdAt, importOf, retention })
  if (created) return created
  await assertCreatable(postgres, exported)
  const interrupted = await findInterruptedImport(postgres, exported.id, importOf)
  if (interrupted) return interrupted
  throw new CommandError(`account ${exported.id} already exists, and no import of this folder was interrupted.`)
}

/**
 * Stores what must come before the rows: erasures, so that the rows need not be searched afterwards, and sums of removed clicks,
 * to which sums of the same days are added.
 */
async function importBeforeRows(context: CommandContext, folder: string, manifest: Manifest): Promise<void> {
  const { account, erasures, retained } = manifest
  const msOf = (moment: string | null) => (moment === null ? 0 : Date.parse(moment))
  const ranges = { clicksMs: msOf(retained.clicksFrom), eventsMs: msOf(retained.eventsFrom) }
  await context.withWriter(account.id, async (writer) => {
    if (erasures.length > 0) {
      const added = erasures.map(({ erasedAt, ...erasure }) => ({ ...erasure, erasedMs: Date.parse(erasedAt) }))
      await addErasures(writer, added)
      await completeErasures(writer, { ifStillRead: 'leave' })
    }
    if (ranges.clicksMs === 0 && ranges.eventsMs === 0) return
    const open = (table: string) =>
      retained.files[table] && createReadStream(join(folder, fileOf(table))).pipe(createGunzip())
    await storeRemovedSums(writer, ranges, open)
  })
}
