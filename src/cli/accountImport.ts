import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { Value } from '@sinclair/typebox/value'
import type { Command } from 'commander'
import { type Account, createAccount, findInterruptedImport } from '../accounts/accounts.ts'
import { findDeletion } from '../accounts/deletion.ts'
import { storeKeys } from '../accounts/keyTransfer.ts'
import { fileOf, hashed, Manifest, manifestName } from '../export/accountFolder.ts'
import { TooManyRejects } from '../import/rejectLimit.ts'
import type { ResourceName } from '../import/resourceNames.ts'
import { importRows, type Tally } from '../import/run.ts'
import { openSource } from '../import/source.ts'
import type { Stores } from '../stores/open.ts'
import { completeErasures } from '../writer/erasure/eraseRows.ts'
import { addErasures } from '../writer/erasure/erasures.ts'
import { openWriter } from '../writer/openWriter.ts'
import { RetainedOtherwise, storeRemovedSums } from '../writer/retention/removedSums.ts'
import { requirePlan } from './account.ts'
import type { CommandContext } from './context.ts'
import { CommandError } from './errors.ts'
import { asImportError } from './import.ts'
import { openProgress } from './progress.ts'

/** Names first, so that no row names an unknown campaign; clicks before their conversions. */
const importOrder = [
  ...(['campaigns', 'offers', 'landing-pages', 'traffic-sources'] as const),
  ...(['clicks', 'conversions', 'pixel-events'] as const),
] satisfies ResourceName[]

/** `account import`. */
export function addAccountImportCommand(account: Command, context: CommandContext): void {
  account
    .command('import')
    .description('Create an account from a folder that account export wrote, with its keys and rows.')
    .argument('<folder>', 'folder that account export wrote')
    .addHelpText(
      'after',
      `
The files are checked before anything is stored. Keys are stored last, so that clients never read a part of the rows. If the
import is interrupted, run it again to complete it. The rows get new times of storage (storedAt). Clicks and events of months that
the account had removed are rejected: each is printed with the reason, and the others are stored.

Example:
  tributary account import acme-2026-11`,
    )
    .action((folder: string) => importAccount(context, folder))
}

async function importAccount(context: CommandContext, folder: string): Promise<void> {
  const { manifest, sha256 } = await readManifest(folder)
  const files = { ...manifest.files, ...manifest.retained.files }
  for (const [name, { sha256: digest }] of Object.entries(files)) await checkFile(folder, name, digest)
  const stores = await context.openStores()
  const account = await openAccount(stores, manifest, sha256)
  await importErasures(context, stores, account, manifest.erasures)
  await importRemovedSums(context, stores, { folder, account, retained: manifest.retained })
  const rows: Partial<Record<ResourceName, number>> = {}
  const rejected: typeof rows = {}
  for (const resource of importOrder) {
    const tally = await importFile(context, stores, { folder, resource, account })
    const exported = manifest.files[resource].rows
    if (tally.read !== exported) {
      throw new CommandError(
        `${join(folder, fileOf(resource))} has ${tally.read} rows, but ${manifestName} says ${exported}.`,
      )
    }
    rows[resource] = tally.read - tally.rejected
    if (tally.rejected > 0) rejected[resource] = tally.rejected
  }
  const { id } = account
  const stored = await storeKeys(stores.postgres, id, manifest.keys)
  if (stored < manifest.keys.length) {
    throw new CommandError(`${manifest.keys.length - stored} keys of account ${id} belong to other accounts here.`)
  }
  const counts = Object.entries(rejected).map(
    ([resource, count]) => ` ${resource} of removed months rejected: ${count}.`,
  )
  context.print(
    { account: id, rows, rejected, keys: stored },
    `Account ${id} was imported from ${folder}.${counts.join('')}`,
  )
}

/** @throws CommandError */
async function readManifest(folder: string): Promise<{ manifest: Manifest; sha256: string }> {
  const path = join(folder, manifestName)
  let text: string
  let manifest: unknown
  try {
    text = await readFile(path, 'utf8')
    manifest = JSON.parse(text)
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}.`)
  }
  const [invalid] = Value.Errors(Manifest, manifest)
  if (invalid) throw new CommandError(`${path} is not of this version: ${invalid.path}: ${invalid.message}.`)
  return { manifest: Value.Decode(Manifest, manifest), sha256: createHash('sha256').update(text).digest('hex') }
}

/** @throws CommandError if the content is not what was exported */
async function checkFile(folder: string, name: string, expected: string): Promise<void> {
  const path = join(folder, fileOf(name))
  let sha256 = ''
  const discard = async (chunks: AsyncIterable<Buffer>) => {
    const all = hashed(chunks, (digest) => {
      sha256 = digest
    })
    for await (const _ of all);
  }
  try {
    await pipeline(createReadStream(path), createGunzip(), discard)
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}.`)
  }
  if (sha256 !== expected) throw new CommandError(`${path} is not the exported file: its hash differs.`)
}

/** Creates the account, or finds it after an interrupted import of the same manifest. */
async function openAccount(
  { postgres }: Stores,
  { account: exported, retained: retention }: Manifest,
  importOf: string,
): Promise<Account> {
  const createdAt = new Date(exported.createdAt)
  const created = await createAccount(postgres, { ...exported, createdAt, importOf, retention })
  if (created) return created
  await requirePlan(postgres, exported.plan)
  if (await findDeletion(postgres, exported.id)) {
    throw new CommandError(`account ${exported.id} was deleted; its id cannot be used again.`)
  }
  const interrupted = await findInterruptedImport(postgres, exported.id, importOf)
  if (!interrupted) {
    throw new CommandError(`account ${exported.id} already exists, and no import of this folder was interrupted.`)
  }
  return interrupted
}

/** Before the rows, which need not be searched afterwards. */
async function importErasures(
  { printStatus: onMessage, interrupted: signal }: CommandContext,
  stores: Stores,
  { id }: Account,
  erasures: Manifest['erasures'],
): Promise<void> {
  if (erasures.length === 0) return
  const writer = await openWriter(stores, id, { onMessage, signal })
  try {
    const added = erasures.map(({ erasedAt, ...erasure }) => ({ ...erasure, erasedMs: Date.parse(erasedAt) }))
    await addErasures(writer, added)
    await completeErasures(writer, { ifStillRead: 'leave' })
  } finally {
    await writer.close()
  }
}

/** Before clicks and conversions: sums of the same days are added to these. */
async function importRemovedSums(
  { printStatus: onMessage, interrupted: signal }: CommandContext,
  stores: Stores,
  { folder, account, retained }: { folder: string; account: Account; retained: Manifest['retained'] },
): Promise<void> {
  const msOf = (moment: string | null) => (moment === null ? 0 : Date.parse(moment))
  const ranges = { clicksMs: msOf(retained.clicksFrom), eventsMs: msOf(retained.eventsFrom) }
  if (ranges.clicksMs === 0 && ranges.eventsMs === 0) return
  const writer = await openWriter(stores, account.id, { onMessage, signal })
  try {
    await storeRemovedSums(writer, ranges, (table) =>
      createReadStream(join(folder, fileOf(table))).pipe(createGunzip()),
    )
  } catch (error) {
    throw error instanceof RetainedOtherwise ? new CommandError(error.message) : error
  } finally {
    await writer.close()
  }
}

/** Rows of removed months are rejected, as by any import; another rejected row is an error. */
async function importFile(
  context: CommandContext,
  stores: Stores,
  { folder, resource, account }: { folder: string; resource: ResourceName; account: Account },
): Promise<Tally> {
  const path = join(folder, fileOf(resource))
  const tally: Tally = { read: 0, inserted: 0, updated: 0, duplicates: 0, rejected: 0 }
  const bar = openProgress()
  const open = (signal: AbortSignal) => openSource(path, { isCsv: false, isGzipped: true }, () => {}, signal)
  const rejectLimit = { rows: 0 }
  const options = { resource, account, open, rejects: undefined, rejectLimit, nowMs: Date.now(), isMoved: true }
  try {
    await importRows(stores, options, tally, {
      onMessage: (line) => bar.printAbove(() => context.printStatus(line)),
      signal: context.interrupted,
      onProgress: bar.show,
    })
    return tally
  } catch (error) {
    if (error instanceof TooManyRejects) throw new CommandError(`${path} cannot be imported: a row was rejected.`)
    throw asImportError(error, { file: path, tally, rejects: undefined, interrupted: context.interrupted })
  } finally {
    bar.stop()
  }
}
