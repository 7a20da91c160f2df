import { Type } from '@sinclair/typebox'
import { idPattern } from '../../schema/scalars.ts'
import { auditClause } from '../accounts/audit.ts'
import { ExportedErasure } from '../export/accountFolder.ts'
import { completeErasures } from '../writer/erasure/completeErasures.ts'
import {
  addErasures,
  type ErasedKind,
  identifierHash,
  listErasures,
  readErasureClock,
  readErasureKey,
} from '../writer/erasure/erasures.ts'
import { groupBy } from '../writer/tables/groupBy.ts'
import type { Command, CommandContext } from './context.ts'
import { UsageError } from './errors.ts'
import { parseId } from './options.ts'
import { readJsonFile } from './readJsonFile.ts'
import { table } from './table.ts'

const ErasureList = Type.Object({
  erasures: Type.Array(Type.Object({ account: Type.String({ pattern: idPattern }), ...ExportedErasure.properties })),
})

type Options = { account?: string; visitor?: string; click?: string }

export function addEraseCommands(program: Command, context: CommandContext): void {
  const erase = program
    .command('erase')
    .description('Erase the personal data of a visitor or click from both databases.')
    .option('--account <id>', 'id of the account', parseId)
    .option('--visitor <id>', 'id of the visitor: all its clicks, conversions and events', parseId)
    .option('--click <id>', 'id of one click, with its conversions and events', parseId)
    .notes(`
Blanks visitor id, IP address, user agent, referrer, sub ids, external click id, UTM parameters, region, city and event
properties. Rows, ids and amounts remain. Counts change only where a blanked field filters or groups them, and in funnels of
visitors. The command returns when the replaced files are gone from disk. Rows of the visitor or click that are imported later
are blanked as well, unless their time is after the erasure. If the command is interrupted, a running server completes the
erasure within a minute, as does the same command.

Save the output of erase list apart from backups: erase apply erases the same visitors and clicks after a restore.

Examples:
  tributary erase --account acme --visitor v-81f3
  tributary erase --account acme --click c-20c1
  tributary erase list --json > erasures.json
  tributary erase apply erasures.json`)
    .action(({ account, visitor, click }: Options) => {
      if (account === undefined) throw new UsageError('erase requires --account.')
      if (visitor !== undefined && click === undefined) return eraseOne(context, account, 'visitor', visitor)
      if (click !== undefined && visitor === undefined) return eraseOne(context, account, 'click', click)
      throw new UsageError('erase requires either --visitor or --click.')
    })

  erase
    .command('list')
    .description('List erasures as keyed hashes; the output with --json is the file that erase apply reads.')
    .option('--account <id>', 'only this account (default: all)', parseId)
    .notes('\nExample:\n  tributary erase list --json > erasures.json')
    .action(async (_options: Options, list: Command) => {
      // TRAP: `erase` has the same option and parses it first.
      const { account } = list.optsWithGlobals<Options>()
      const { postgres } = await context.openStores()
      const erasures = await listErasures(postgres, account)
      context.print({ erasures }, table(erasures, ['account', 'kind', 'hash', 'erasedAt'], 'No erasures.'))
    })

  erase
    .command('apply')
    .description('Erase the visitors and clicks of a list again, for example after a restore.')
    .argument('<file>', 'output of erase list --json')
    .notes('\nExample:\n  tributary erase apply erasures.json')
    .action((file: string) => applyList(context, file))
}

async function eraseOne(context: CommandContext, accountId: string, kind: ErasedKind, id: string): Promise<void> {
  await context.requireAccount(accountId)
  const erased = await context.withWriter(accountId, async (writer) => {
    const key = await readErasureKey(writer)
    const hash = identifierHash(key, kind, id)
    const erasure = { kind, key, hash, erasedMs: await readErasureClock(writer) }
    await addErasures(writer, [erasure], {
      audit: (postgres) => auditClause(postgres, 'erasure.add')`
        SELECT ${accountId}, jsonb_build_object('kind', ${kind}::text, 'hash', ${hash}::text) FROM added`,
    })
    return await completeErasures(writer)
  })
  const { clicks, conversions, events } = erased
  context.print(
    { account: accountId, ...erased },
    `Erased the personal data of ${clicks} clicks, ${conversions} conversions and ${events} events of account ${accountId}.`,
  )
}

async function applyList(context: CommandContext, file: string): Promise<void> {
  const { value } = await readJsonFile(file, ErasureList, 'is not the output of erase list --json')
  const byAccount = groupBy(value.erasures, ({ account }) => account)
  for (const accountId of byAccount.keys()) await context.requireAccount(accountId)
  const total = { clicks: 0, conversions: 0, events: 0 }
  for (const [accountId, erasures] of byAccount) {
    const erased = await context.withWriter(accountId, async (writer) => {
      await addErasures(
        writer,
        erasures.map(({ erasedAt, ...erasure }) => ({ ...erasure, erasedMs: Date.parse(erasedAt) })),
        {
          audit: (postgres) => auditClause(postgres, 'erasure.apply')`
          SELECT ${accountId}, jsonb_build_object('erasures', count(*)) FROM added`,
        },
      )
      return await completeErasures(writer)
    })
    for (const resource of ['clicks', 'conversions', 'events'] as const) total[resource] += erased[resource]
  }
  context.print(
    { accounts: byAccount.size, ...total },
    `Erased the personal data of ${total.clicks} clicks, ${total.conversions} conversions and ${total.events} events of ${byAccount.size} accounts.`,
  )
}
