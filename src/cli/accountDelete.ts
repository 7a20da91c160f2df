import { setTimeout as pause } from 'node:timers/promises'
import { beginDeletion, completeDeletion, findDeletion } from '../accounts/deletion.ts'
import type { Stores } from '../stores/open.ts'
import { deleteAccountRows } from '../writer/deleteAccountRows.ts'
import { type WriterOptions, withWriter } from '../writer/openWriter.ts'
import { sentWithinMs } from '../writer/tables/pixelEvent.ts'
import type { Command, CommandContext } from './context.ts'
import { UsageError } from './errors.ts'
import { accountOption, parseId } from './options.ts'
import { addDryRun, countByMonth, mayRemove } from './removal.ts'

/**
 * Rows are deleted this time after the keys are revoked: a server that cannot reach Postgres accepts a key for 60 s, and ClickHouse has
 * five seconds for an insert.
 */
const keysEndMs = 60_000 + sentWithinMs + 5_000

export function addAccountDeleteCommand(account: Command, context: CommandContext): void {
  addDryRun(account.command('delete'))
    .description('Delete an account: revoke its keys, then remove every row of it from both databases.')
    .addOption(accountOption())
    .option('--confirm <id>', 'the same id once more; required without a terminal, which asks for it', parseId)
    .notes(`
This cannot be undone: export the account first if its rows may be needed. The id can never be used again. Keys are rejected
within 5 seconds. The rows are deleted ${keysEndMs / 1_000} seconds after the revocation, together with events that a server
accepted until then. If it is interrupted, run it again to complete the deletion.`)
    .example('tributary account delete --account acme --confirm acme')
    .action(async ({ account: id, ...options }: { account: string; dryRun?: true; confirm?: string }) => {
      const { dryRun, confirm = id } = options
      if (confirm !== id) throw new UsageError(`--confirm ${confirm} does not equal --account ${id}.`)
      if (!options.confirm && !dryRun && !context.stdin.isTTY)
        throw new UsageError('account delete requires --confirm.')
      if (!options.confirm) await context.openAccount(id)
      if (!(await mayRemove(context, options, [id], () => countByMonth(context, id), id))) return
      const { interrupted: signal, printStatus: onMessage } = context
      const deletedAt = await deleteAccount(await context.openStores(), id, { onMessage, signal })
      if (!deletedAt) throw context.noSuch('account', id)
      const at = deletedAt.toISOString()
      context.print({ account: id, deletedAt: at }, `Account ${id} was deleted at ${at}.`)
    })
}

/**
 * Revokes the keys of an account, waits until no server accepts them any longer, then deletes its rows. A deletion that was
 * interrupted continues.
 * @param wait resolves after so many milliseconds
 * @returns when the deletion was completed, which may be before this call; undefined when there is no such account
 * @throws what `openWriter` and `deleteAccountRows` throw, or the reason of `signal`
 */
export async function deleteAccount(stores: Stores, id: string, { onMessage, signal, wait = pause }: DeletionContext) {
  const begun = await beginDeletion(stores.postgres, id)
  if (!begun) return undefined
  if (begun.completedAt) return begun.completedAt
  const waitMs = keysEndMs - begun.ageMs
  if (waitMs > 0) {
    onMessage(`Its keys are revoked; waiting ${Math.ceil(waitMs / 1_000)} s for events in flight.`)
    await wait(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
  return await withWriter(stores, id, { onMessage, signal, first: 'delete' }, async (writer) => {
    await deleteAccountRows(writer)
    await completeDeletion(stores.postgres, id)
    return (await findDeletion(stores.postgres, id))?.completedAt ?? new Date()
  })
}

interface DeletionContext extends Pick<WriterOptions, 'onMessage' | 'signal'> {
  wait?: (ms: number, value: undefined, options: { signal: AbortSignal }) => Promise<unknown>
}
