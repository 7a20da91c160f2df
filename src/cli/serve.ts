import type { Command, CommandContext } from './context.ts'
import { clicksMax, demoDefaults } from './demo.ts'
import { UsageError } from './errors.ts'
import { wholeNumberFrom } from './options.ts'

export function addServeCommand(program: Command, context: CommandContext): void {
  program
    .command('serve')
    .description('Migrate both databases to the current schema and serve the API.')
    .option('--demo [clicks]', 'fill an empty database with a demo account; print a key', wholeNumberFrom(1, clicksMax))
    .option('--live', 'with --demo: feed the account with clicks and conversions of now')
    .notes(`
A demo account has ${demoDefaults.clicks} clicks by default. Logs go to standard error. SIGINT and SIGTERM stop the server once in-flight requests have finished.`)
    .example('PORT=8080 tributary serve')
    .action(async ({ demo, live }: { demo?: number | true; live?: true }) => {
      if (live && demo === undefined) throw new UsageError('--live needs --demo.')
      // Runs that load every command, such as the help, need no server.
      const { serve } = await import('./server.ts')
      const clicks = demo === true ? demoDefaults.clicks : demo
      await serve(context, clicks === undefined ? undefined : { clicks, isLive: live === true })
    })
}
