import type { Command, CommandContext } from './context.ts'
import { clicksMax, demoDefaults } from './demo.ts'
import { UsageError } from './errors.ts'
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
    .option('--live', 'with --demo: feed the account with clicks and conversions of now')
    .notes(`
Logs go to standard error. SIGINT and SIGTERM stop the server once in-flight requests have finished.

Example:
  PORT=8080 tributary serve`)
    .action(async ({ demo, live }: { demo?: number | true; live?: true }) => {
      if (live && demo === undefined) throw new UsageError('--live needs --demo.')
      // Runs that load every command, such as the help, need no server.
      const { serve } = await import('./server.ts')
      const clicks = demo === true ? demoDefaults.clicks : demo
      await serve(context, clicks === undefined ? undefined : { clicks, isLive: live === true })
    })
}
