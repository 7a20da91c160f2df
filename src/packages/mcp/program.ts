import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { checkedKey, TributaryError } from 'tributary-client'
import { openServer, type Sources } from './server.ts'

/**
 * Runs the command: serves the tools on standard input and output until the client closes them.
 * @param environment has the API key in TRIBUTARY_KEY
 * @returns the exit code: 0, 2 for wrong arguments
 */
export async function run(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const program: Command = new Command('tributary-mcp')
    .description(
      'Serves the read API of Tributary to language models: Model Context Protocol on standard input and output. The API key is in TRIBUTARY_KEY.',
    )
    .option('--url <url>', 'address of the API, such as https://api.example.com', parseUrl)
    .option('--copy <file>', 'file of DuckDB that tributary-sync keeps, for SQL; without --url the only tool')
    .helpOption('-h, --help', 'show help')
    .addHelpText('after', '\nExample:\n  TRIBUTARY_KEY=trb_live_… tributary-mcp --url https://api.example.com')
    .exitOverride()
  const apiKey = environment.TRIBUTARY_KEY ?? ''
  let sources: Sources
  try {
    program.parse(args, { from: 'user' })
    const { url, copy } = program.opts<{ url?: string; copy?: string }>()
    if (url === undefined && copy === undefined)
      program.error("error: required option '--url <url>' or '--copy <file>' not specified")
    if (url !== undefined && !apiKey) program.error('error: set TRIBUTARY_KEY to an API key.')
    sources = { api: url === undefined ? undefined : { baseUrl: url, apiKey: checkedKey(apiKey) }, copy }
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof TributaryError)) throw error
    process.stderr.write(`error: TRIBUTARY_KEY: ${error.message}\n`)
    return 2
  }
  const server = openServer(sources)
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve
    // The transport does not report the end of its input.
    process.stdin.once('end', () => void server.close())
  })
  await server.connect(new StdioServerTransport())
  await closed
  return 0
}

function parseUrl(text: string): string {
  if (/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : '')) return text
  throw new InvalidArgumentError('Use an address such as https://api.example.com.')
}
