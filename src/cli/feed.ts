import { Option } from 'commander'
import type { Command, CommandContext } from './context.ts'
import type { FeedOptions } from './runFeed.ts'

export function addFeedCommand(program: Command, context: CommandContext): void {
  program
    .command('feed')
    .description('Store rows of all accounts as they happen, from HTTP or standard input, until a signal arrives.')
    .option('--stdin', 'read NDJSON from standard input, and nothing else; end with it')
    .addOption(
      new Option('--updated-at <time>', 'updatedAt of rows without one, if senders keep order').choices(['arrival']),
    )
    .notes(`
Each row has the fields of an import, and accountId and resource: {"accountId":"acme","resource":"clicks","id":…}
One feed at a time is active; another one waits. FEED_PORT and FEED_TOKEN enable POST /rows.
From standard input, a line on standard output after each flush says up to which line all rows are stored or rejected.

Examples:
  FEED_PORT=3100 FEED_TOKEN=… tributary feed
  tail -F clicks.ndjson | tributary feed --stdin`)
    .action(async (options: FeedOptions) => {
      // Runs that load every command, such as the help, need no server.
      const { runFeed } = await import('./runFeed.ts')
      await runFeed(context, options)
    })
}
