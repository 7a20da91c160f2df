import { randomUUID } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import type { PendingQuery, Row } from 'postgres'
import { idPattern } from '../../schema/scalars.ts'
import { auditClause } from '../accounts/audit.ts'
import { ExportedErasure } from '../export/accountFolder.ts'
import { selectRows } from '../stores/clickhouse/select.ts'
import { ch, type Fragment, text } from '../stores/clickhouse/sql.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import { completeErasures } from '../writer/erasure/completeErasures.ts'
import { conditionsOfErasures } from '../writer/erasure/erasedRows.ts'
import {
  addErasures,
  type Erasure,
  identifierHash,
  listErasures,
  readErasureClock,
  readErasureKey,
} from '../writer/erasure/erasures.ts'
import type { Writer } from '../writer/fence/session.ts'
import { groupBy } from '../writer/tables/groupBy.ts'
import type { Command, CommandContext } from './context.ts'
import { UsageError } from './errors.ts'
import { parseId } from './options.ts'
import { readJsonFile } from './readJsonFile.ts'
import { addRemovalOptions, countByMonth, mayRemove, type RemovalOptions } from './removal.ts'
import { table } from './table.ts'

const ErasureList = Type.Object({
  erasures: Type.Array(Type.Object({ account: Type.String({ pattern: idPattern }), ...ExportedErasure.properties })),
})

type Options = RemovalOptions & { account?: string; visitor?: string; click?: string }

export function addEraseCommands(program: Command, context: CommandContext): void {
  const erase = addRemovalOptions(program.command('erase'))
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
    .action(({ account, visitor, click, ...options }: Options) => {
      if (account === undefined) throw new UsageError('erase requires --account.')
      const [kind, id] = visitor === undefined ? (['click', click] as const) : (['visitor', visitor] as const)
      if (id === undefined || (visitor !== undefined && click !== undefined))
        throw new UsageError('erase requires either --visitor or --click.')
      return eraseAll(context, options, {
        accountIds: [account],
        result: { account },
        async erasuresOf(_, writer) {
          const key = writer ? await readErasureKey(writer) : randomUUID()
          const erasedMs = writer ? await readErasureClock(writer) : Date.now()
          return [{ kind, key, hash: identifierHash(key, kind, id), erasedMs }]
        },
        audit: (postgres, accountId) => auditClause(postgres, 'erasure.add')`
          SELECT ${accountId}, jsonb_build_object('kind', kind, 'hash', upper(encode(hash, 'hex'))) FROM added`,
      })
    })

  erase
    .command('list')
    .description('List erasures as keyed hashes; the output with --json is the file that erase apply reads.')
    .option('--account <id>', 'only this account (default: all)', parseId)
    .example('tributary erase list --json > erasures.json')
    .action(async (_options: Options, list: Command) => {
      // TRAP: `erase` has the same option and parses it first.
      const { account } = list.optsWithGlobals<Options>()
      const { postgres } = await context.openStores()
      const erasures = await listErasures(postgres, account)
      context.print({ erasures }, table(erasures, 'No erasures.', ['account', 'kind', 'hash', 'erasedAt']))
    })

  addRemovalOptions(erase.command('apply'))
    .description('Erase the visitors and clicks of a list again, for example after a restore.')
    .argument('<file>', 'output of erase list --json')
    .example('tributary erase apply erasures.json')
    .action(async (file: string, _options, apply: Command) => {
      const { value } = await readJsonFile(file, ErasureList, 'is not the output of erase list --json')
      const listed = value.erasures.map(({ erasedAt, ...one }) => ({ ...one, erasedMs: Date.parse(erasedAt) }))
      const byAccount = groupBy(listed, ({ account }) => account)
      // TRAP: `erase` has the same options and parses them first.
      return eraseAll(context, apply.optsWithGlobals<Options>(), {
        accountIds: [...byAccount.keys()],
        result: { accounts: byAccount.size },
        erasuresOf: async (accountId) => byAccount.get(accountId) ?? [],
        audit: (postgres, accountId) => auditClause(postgres, 'erasure.apply')`
          SELECT ${accountId}, jsonb_build_object('erasures', count(*)) FROM added`,
      })
    })
}

interface Erasing {
  accountIds: readonly string[]
  /** Printed before the numbers of rows. */
  result: { account: string } | { accounts: number }
  /** @param writer absent: for a count */
  erasuresOf(accountId: string, writer?: Writer): Promise<Erasure[]>
  /** A WITH clause that records what is added. */
  audit(postgres: Postgres, accountId: string): PendingQuery<Row[]>
}

async function eraseAll(context: CommandContext, options: RemovalOptions, erasing: Erasing): Promise<void> {
  const { accountIds, result, erasuresOf, audit } = erasing
  for (const id of accountIds) await context.openAccount(id)
  const { clickhouse } = await context.openStores()
  const select = <Found>(_: string, query: Fragment, label: string) => selectRows<Found>(clickhouse, query, { label })
  const countRows = async (id: string) => {
    const reader = { select, ofAccount: ch`account_id = ${text(id)}` }
    return countByMonth(context, id, await conditionsOfErasures(reader, await erasuresOf(id)))
  }
  if (!(await mayRemove(context, options, accountIds, countRows))) return
  const total = { clicks: 0, conversions: 0, events: 0 }
  for (const id of accountIds) {
    const erased = await context.withWriter(id, async (writer) => {
      await addErasures(writer, await erasuresOf(id, writer), { audit: (postgres) => audit(postgres, id) })
      return await completeErasures(writer)
    })
    for (const resource of ['clicks', 'conversions', 'events'] as const) total[resource] += erased[resource]
  }
  const { clicks, conversions, events } = total
  const whose = 'account' in result ? `account ${result.account}` : `${result.accounts} accounts`
  context.print(
    { ...result, ...total },
    `Erased the personal data of ${clicks} clicks, ${conversions} conversions and ${events} events of ${whose}.`,
  )
}
