import { FormatRegistry, type Static, Type } from '@sinclair/typebox'
import { Value, ValueErrorType } from '@sinclair/typebox/value'
import { coverEveryAddress, isNetwork } from './http/networks.ts'

/** What a setting of each format must be; the texts complete "expected …". */
const formats: Record<string, { expected: string; isValid: (text: string) => boolean }> = {
  networks: {
    expected: 'addresses and networks separated by commas that together do not hold every address',
    isValid: isNetworkList,
  },
  server: { expected: 'a URL whose user and password are percent-encoded', isValid: isServer },
  origins: {
    expected: 'origins such as https://app.example.com separated by commas, or *',
    isValid: (text) => text === '*' || text.split(',').every(isOrigin),
  },
  nodes: {
    expected: 'addresses such as http://one:8123 separated by commas',
    isValid: (text) => text.split(',').every(isOrigin),
  },
}
for (const [name, { isValid }] of Object.entries(formats)) FormatRegistry.Set(name, isValid)

/** The environment, variable by variable. `docs/operations.md` shows the same texts. */
export const SettingsSchema = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', description: 'Address to listen on.' }),
  PORT: Type.Integer({
    default: 3000,
    minimum: 0,
    maximum: 65535,
    description: 'Port to listen on; 0 takes a free one.',
  }),
  DATA_DIR: Type.String({ default: './data', minLength: 1, description: 'Folder of the embedded engines.' }),
  CLICKHOUSE_URL: Type.Optional(
    Type.String({
      pattern: '^https?://.+',
      format: 'server',
      description:
        'ClickHouse over HTTP: `http://user:password@host:8123/database`. Without it a real ClickHouse runs as a child process.',
    }),
  ),
  CLICKHOUSE_READER_URL: Type.Optional(
    Type.String({
      pattern: '^https?://.+',
      format: 'server',
      description:
        'The same database as `CLICKHOUSE_URL`, as a user that may only read: reads of the API go there. Without it they go to `CLICKHOUSE_URL`.',
    }),
  ),
  CLICKHOUSE_CLUSTER: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_.-]+$',
      description:
        'Cluster of that server (`system.clusters`) that the rows are spread over; see `docs/scaling.md`. Without it they are all on the one server.',
    }),
  ),
  CLICKHOUSE_NODES: Type.Optional(
    Type.String({
      format: 'nodes',
      description:
        'All nodes of the cluster over HTTP, such as `http://one:8123,http://two:8123`; user and password are those of `CLICKHOUSE_URL`. Without it the names in `system.clusters`, at the port of `CLICKHOUSE_URL`.',
    }),
  ),
  DATABASE_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://.+',
      format: 'server',
      description: 'Postgres: `postgres://user:password@host:5432/database`. Without it Postgres is embedded.',
    }),
  ),
  REDIS_URL: Type.Optional(
    Type.String({
      pattern: '^rediss?://.+',
      format: 'server',
      description:
        'Redis: `redis://user:password@host:6379/0`. All instances count rate limits in it together; without it each one counts for itself.',
    }),
  ),
  RATE_LIMIT_WITHOUT_REDIS: Type.Union([Type.Literal('open'), Type.Literal('closed')], {
    default: 'open',
    description:
      'While the Redis of `REDIS_URL` is away: `open` lets each instance count alone, `closed` answers 503 to every key.',
  }),
  READS_PER_ACCOUNT: Type.Integer({
    default: 8,
    minimum: 1,
    maximum: 32,
    description:
      'Reads that an account may have under way at a time in one instance; 128 more wait for up to 5 s, the rest is 429.',
  }),
  TRUST_PROXY: Type.Optional(
    Type.String({
      format: 'networks',
      description:
        'Proxies whose `X-Forwarded-For` is believed: addresses and networks, separated by commas, such as `10.0.0.0/8,127.0.0.1`; a list that holds every address is refused. Without it the header is ignored.',
    }),
  ),
  CORS_ORIGINS: Type.Optional(
    Type.String({
      format: 'origins',
      description:
        'Web pages that may call the API from a browser: origins separated by commas, such as `https://app.example.com`, or `*`. Without it none may.',
    }),
  ),
  METRICS_PORT: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 65535,
    description: 'Loopback port of `/metrics`; 0 leaves it off.',
  }),
  LOG_LEVEL: Type.Union(
    (['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const).map((level) => Type.Literal(level)),
    { default: 'info', description: 'Least severe level that is logged.' },
  ),
})

export type Settings = Static<typeof SettingsSchema>

/** A setting that cannot be used; the message is one line and names the variable. */
export class SettingsError extends Error {
  override name = 'SettingsError'
}

/**
 * Reads the settings out of an environment. An empty variable counts as absent.
 * @throws SettingsError naming the first variable at fault
 */
export function readSettings(environment: Record<string, string | undefined>): Settings {
  const given = Object.fromEntries(
    Object.keys(SettingsSchema.properties).flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])),
  )
  const settings = Value.Convert(SettingsSchema, Value.Default(SettingsSchema, given))
  const [error] = Value.Errors(SettingsSchema, settings)
  if (error) {
    const name = error.path.slice(1)
    const format = error.type === ValueErrorType.StringFormat ? formats[error.schema.format] : undefined
    const reason = format ? `expected ${format.expected}` : error.message.toLowerCase()
    throw new SettingsError(`${name}=${hidePassword(environment[name] ?? '')}: ${reason}.`)
  }
  return settings as Settings
}

/** Networks with commas between, which together do not hold every address: trusting all would be believing every caller. */
function isNetworkList(text: string): boolean {
  const networks = text.split(',')
  return networks.every(isNetwork) && !coverEveryAddress(networks)
}

/** Scheme, host and port and nothing more, as browsers send it. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
}

/** A URL with user and password that can be decoded; Postgres may have several hosts, separated by commas. */
function isServer(text: string): boolean {
  const host = text.lastIndexOf('@') + 1
  const url = text.slice(0, host) + text.slice(host).replace(/,[^/?]*/, '')
  try {
    return decodeURIComponent(new URL(url).href) !== ''
  } catch {
    return false
  }
}

/** What stands before the host of an address is nobody's business, however the address is written. */
function hidePassword(text: string): string {
  return text.replace(/^(\w+:\/\/)?.*@/, '$1…@')
}
