import type { Command } from 'commander'
import { migrate } from '../stores/migrations/migrate.ts'
import { openStores } from '../stores/open.ts'
import type { CommandContext } from './context.ts'
import { describeCreated } from './storeLocation.ts'

/** `migrate`: migrates both databases to the current schema. */
export function addMigrateCommand(program: Command, context: CommandContext): void {
  program
    .command('migrate')
    .description('Migrate both databases to the current schema; does nothing if they are up to date.')
    .addHelpText('after', '\nExample:\n  tributary migrate --json')
    .action(async () => {
      const stores = await openStores(context.settings, ({ message }) => context.printStatus(message))
      try {
        const applied = await migrate(stores)
        const created = describeCreated(context.settings, applied)
        if (created) context.printStatus(created)
        context.print({ applied }, applied.length === 0 ? 'Both databases are up to date.' : applied.join('\n'))
      } finally {
        await stores.close()
      }
    })
}
