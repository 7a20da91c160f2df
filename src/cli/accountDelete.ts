import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from 'commander'
import { beginDeletion, completeDeletion, findDeletion } from '../accounts/deletion.ts'
import { deleteAccountRows } from '../writer/deleteAccountRows.ts'
import { openDeletingWriter } from '../writer/openWriter.ts'
import type { CommandContext } from './context.ts'
import { CommandError, UsageError } from './errors.ts'
import { accountOption, parseId } from './options.ts'
import { storeLocation } from './storeLocation.ts'

/**
 * Time after which no server accepts a revoked key: 60 s while it cannot reach Postgres, and 10 s for retries of events that
 * it has accepted. Events stored until then are deleted at the end.
 */
const keysEndMs = 75_000

/** `account delete`. */
export function addAccountDeleteCommand(account: Command, context: CommandContext): void {
  account
    .command('delete')
    .description('Delete an account: revoke its keys, then remove every row of it from both databases.')
    .addOption(accountOption())
    .requiredOption('--confirm <id>', 'the same id once more', parseId)
    .addHelpText(
      'after',
      `
This cannot be undone: export the account first if its rows may be needed. The id can never be used again. Keys are rejected
within 5 seconds. The command waits ${keysEndMs / 1_000} seconds after the revocation, so that it also deletes events that a
server still accepted. If it is interrupted, run it again to complete the deletion.

Example:
  tributary account delete --account acme --confirm acme`,
    )
    .action(async ({ account: id, confirm }: { account: string; confirm: string }) => {
      if (confirm !== id) throw new UsageError(`--confirm ${confirm} does not equal --account ${id}.`)
      const deletedAt = await deleteAccount(context, id)
      context.print(
        { account: id, deletedAt: deletedAt.toISOString() },
        `Account ${id} was deleted at ${deletedAt.toISOString()}.`,
      )
    })
}

/** @returns when the deletion was completed, which may be before this call */
async function deleteAccount(context: CommandContext, id: string): Promise<Date> {
  const stores = await context.openStores()
  const begun = await beginDeletion(stores.postgres, id)
  if (!begun) throw new CommandError(`no such account: ${id} in ${storeLocation(context.settings)}; see: account list.`)
  if (begun.completedAt) return begun.completedAt
  const { interrupted: signal, printStatus: onMessage } = context
  const writer = await openDeletingWriter(stores, id, { onMessage, signal })
  try {
    await deleteAccountRows(writer)
    const { ageMs, completedAt } = (await findDeletion(stores.postgres, id)) ?? begun
    if (completedAt) return completedAt
    if (ageMs < keysEndMs) {
      onMessage(`Its rows are deleted; waiting ${Math.ceil((keysEndMs - ageMs) / 1_000)} s for events in flight.`)
      await pause(keysEndMs - ageMs, undefined, { signal: writer.signal }).catch(() => writer.signal.throwIfAborted())
      await deleteAccountRows(writer)
    }
    await completeDeletion(stores.postgres, id)
    return (await findDeletion(stores.postgres, id))?.completedAt ?? new Date()
  } finally {
    await writer.close()
  }
}
