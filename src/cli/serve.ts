import type { Command, CommandContext } from './context.ts'
import { clicksMax, demoDefaults } from './demo.ts'
import { wholeNumberFrom } from './options.ts'

export function addServeCommand(program: Command, context: CommandContext): void {
  program
    .command('serve')
    .description('Migrate both databases to the current schema and serve the API.')
    .option(
      '--demo [clicks]',
      `fill an empty database with a demo account of this many clicks (default: ${demoDefaults.clicks}); print a key and example requests`,
      wholeNumberFrom(1, clicksMax),
    )
    .notes(`
Logs go to standard error. SIGINT and SIGTERM stop the server once in-flight requests have finished.

Example:
  PORT=8080 tributary serve`)
    .action(async ({ demo }: { demo?: number | true }) => {
      // Runs that load every command, such as the help, need no server.
      const { serve } = await import('./server.ts')
      await serve(context, demo === true ? demoDefaults.clicks : demo)
    })
}
