import { fillReplicas } from '../stores/migrations/newReplicas.ts'
import type { Command, CommandContext } from './context.ts'

export function addMigrateCommand(program: Command, context: CommandContext): void {
  program
    .command('migrate')
    .description('Migrate both databases to the current schema; does nothing if they are up to date.')
    .example('tributary migrate --json')
    .action(async () => {
      const stores = await context.openStores(({ message }) => context.printStatus(message))
      const applied = [...context.applied, ...(await fillReplicas(stores))]
      context.print({ applied }, applied.length === 0 ? 'Both databases are up to date.' : applied.join('\n'))
    })
}
