import type { Readable, Writable } from 'node:stream'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { checkedKey, TributaryError } from 'tributary-client'
import { bridge } from './bridge.ts'

/**
 * Runs the command until its input ends.
 * @param environment has the API key in TRIBUTARY_KEY
 * @returns the exit code: 0, 2 for wrong arguments
 */
export async function run(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  input: Readable = process.stdin,
  output: Writable = process.stdout,
): Promise<number> {
  const program: Command = new Command('tributary-mcp')
    .description(
      'Serves the tools of Tributary to programs that start servers of the Model Context Protocol on standard input and output. The API key is in TRIBUTARY_KEY.',
    )
    .requiredOption('--url <url>', 'address of the API, such as https://api.example.com', parseUrl)
    .helpOption('-h, --help', 'show help')
    .addHelpText('after', '\nExample:\n  TRIBUTARY_KEY=trb_live_… tributary-mcp --url https://api.example.com')
    .exitOverride()
  try {
    program.parse(args, { from: 'user' })
    await bridge(program.opts<{ url: string }>().url, checkedKey(environment.TRIBUTARY_KEY ?? ''), input, output)
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof TributaryError)) throw error
    process.stderr.write(`error: TRIBUTARY_KEY: ${error.message}\n`)
    return 2
  }
}

function parseUrl(text: string): string {
  if (/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : '')) return text
  throw new InvalidArgumentError('Use an address such as https://api.example.com.')
}
