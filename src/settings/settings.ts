import { type Static, type StringOptions, type TSchema, Type } from '@sinclair/typebox'
import { OneOf } from '../../schema/scalars.ts'
import { textReaderOf } from '../../schema/textReader.ts'
import { ExpectedError } from '../expectedError.ts'
import { coverEveryAddress, isNetwork } from './networks.ts'

/** Formats of settings; the texts complete "expected …". */
const formats: Record<string, { expected: string; isValid: (text: string) => boolean }> = {
  networks: {
    expected: 'comma-separated addresses and networks that together do not contain every address',
    // Trust in all addresses would trust every client.
    isValid: (text) => text.split(',').every(isNetwork) && !coverEveryAddress(text.split(',')),
  },
  server: { expected: 'a URL with percent-encoded user and password', isValid: isServer },
  address: {
    expected: 'an address such as https://api.example.com, without a slash at the end',
    isValid: isAddress,
  },
  origins: {
    expected: 'comma-separated origins such as https://app.example.com, or *',
    isValid: (text) => text === '*' || text.split(',').every(isOrigin),
  },
  token: {
    expected: 'at least 32 letters, digits and other visible characters of ASCII',
    isValid: (text) => /^[!-~]{32,}$/.test(text),
  },
  nodes: {
    expected: 'comma-separated addresses such as http://one:8123',
    isValid: (text) => text.split(',').every(isOrigin),
  },
}

function optionalText(description: string, limits: StringOptions) {
  return Type.Optional(Type.String({ ...limits, description }))
}

function port(number: number, description: string) {
  return Type.Integer({ default: number, minimum: 0, maximum: 65535, description })
}

const serverUrl = (scheme: string) => ({ pattern: `^${scheme}://.+`, format: 'server' })

/** The environment variables. `docs/setup.md` has the same texts. */
export const SettingsSchema = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', description: 'Address to listen on.' }),
  PORT: port(3000, 'Port to listen on; 0 takes a free port.'),
  PUBLIC_URL: optionalText(
    'Address of the API in its documentation, such as `https://api.example.com`. If unset, `http://HOST:PORT`.',
    { format: 'address' },
  ),
  DATA_DIR: Type.String({ default: './data', minLength: 1, description: 'Data folder of the embedded engines.' }),
  CLICKHOUSE_URL: optionalText(
    'ClickHouse over HTTP: `http://user:password@host:8123/database`. If unset, ClickHouse is embedded.',
    serverUrl('https?'),
  ),
  CLICKHOUSE_READER_URL: optionalText(
    'The database of `CLICKHOUSE_URL` with a read-only user, for reads. If unset, `CLICKHOUSE_URL`.',
    serverUrl('https?'),
  ),
  CLICKHOUSE_MEMORY_MB: Type.Optional(
    Type.Integer({
      minimum: 1_000,
      maximum: 10_000_000,
      description:
        'Memory of the embedded ClickHouse in MB. Queries beyond it get 503. If unset, half of the memory of the machine or the cgroup. The first process that uses `DATA_DIR` decides.',
    }),
  ),
  CLICKHOUSE_CLUSTER: optionalText(
    'ClickHouse cluster (a name in `system.clusters`) to distribute rows over; see `docs/scaling.md`. If unset, one server stores all rows.',
    { pattern: '^[A-Za-z0-9_.-]+$' },
  ),
  CLICKHOUSE_NODES: optionalText(
    'All nodes of the cluster over HTTP, such as `http://one:8123,http://two:8123`, with the user and password of `CLICKHOUSE_URL`. If unset, the hosts in `system.clusters` with the port of `CLICKHOUSE_URL`; the node of `CLICKHOUSE_URL` must then respond at the start.',
    { format: 'nodes' },
  ),
  DATABASE_URL: optionalText(
    'Postgres: `postgres://user:password@host:5432/database`. If unset, Postgres is embedded.',
    serverUrl('postgres(ql)?'),
  ),
  REDIS_URL: optionalText(
    'Redis: `redis://user:password@host:6379/0`. All instances share rate limits in Redis. If unset, each instance counts alone.',
    serverUrl('rediss?'),
  ),
  RATE_LIMIT_WITHOUT_REDIS: OneOf(['open', 'closed'], {
    default: 'open',
    description:
      'While Redis is unavailable: with `open` each instance counts alone, with `closed` every request with a key gets 503.',
  }),
  READS_PER_ACCOUNT: Type.Integer({
    default: 8,
    minimum: 1,
    maximum: 32,
    description:
      'Concurrent reads per account in one instance. Up to 128 more wait for up to 5 s; further reads get 429.',
  }),
  TRUST_PROXY: optionalText(
    'Proxies whose `X-Forwarded-For` is trusted: comma-separated addresses and networks, such as `10.0.0.0/8,127.0.0.1`, not every address. If unset, the header is ignored.',
    { format: 'networks' },
  ),
  CORS_ORIGINS: optionalText(
    'Origins of web pages that may call the API: comma-separated, such as `https://app.example.com`, or `*`. If unset, no page may.',
    { format: 'origins' },
  ),
  EXPLORE: Type.Optional(
    OneOf(['off', 'on'], {
      description:
        'With `on`, the page `/explore` shows the numbers of an API key in the browser. If unset, only if `HOST` is a loopback address. `serve --demo` always serves it.',
    }),
  ),
  METRICS_PORT: port(0, 'Port of `/metrics`; 0 disables it.'),
  METRICS_HOST: Type.String({
    default: '127.0.0.1',
    description:
      'Address on which `/metrics` is served, without a key. Beyond loopback, a firewall must keep clients of the API away.',
  }),
  FEED_PORT: port(0, 'Port on which `tributary feed` takes rows over HTTP; 0 disables it.'),
  FEED_HOST: Type.String({
    default: '127.0.0.1',
    description: 'Address on which `tributary feed` takes rows over HTTP. The sender has the rights of an operator.',
  }),
  FEED_TOKEN: optionalText(
    'Token of the senders of rows over HTTP, at least 32 characters. Required with `FEED_PORT`.',
    { format: 'token', writeOnly: true },
  ),
  FEED_REJECTS: optionalText(
    'File to which `tributary feed` appends rejected and conflicting rows, up to 100 MB. It has personal data. If unset, such rows of standard input are printed on standard error.',
    { minLength: 1 },
  ),
  FEED_FLUSH_MS: Type.Integer({
    default: 2_000,
    minimum: 500,
    maximum: 10_000,
    description: 'Shortest time between two flushes of `tributary feed`, milliseconds.',
  }),
  LOG_LEVEL: OneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'Lowest log level that is written.',
  }),
  LOG_FORMAT: Type.Optional(
    OneOf(['text', 'json'], {
      description: 'Format of the log: lines of text or of JSON. If unset, text on a terminal and JSON elsewhere.',
    }),
  ),
})

export type Settings = Static<typeof SettingsSchema>

/** An invalid setting; the message is one line and names the variable. */
export class SettingsError extends ExpectedError {}

/**
 * Reads the settings from environment variables. An empty variable counts as unset.
 * @throws SettingsError for the first invalid variable
 */
export function readSettings(environment: Record<string, string | undefined>): Settings {
  const settings: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries<TSchema>(SettingsSchema.properties)) {
    const text = environment[name]?.trim()
    if (text) settings[name] = readSetting(name, text, schema)
    else if (schema.default !== undefined) settings[name] = schema.default
  }
  return settings as Settings
}

/** @returns address and token of the feed's `POST /rows`; undefined while it is disabled @throws SettingsError without a token */
export function readFeedAddress({ FEED_HOST: host, FEED_PORT: port, FEED_TOKEN: token }: Settings) {
  if (port === 0) return undefined
  if (token === undefined) throw new SettingsError('FEED_TOKEN: is required with FEED_PORT.')
  return { host, port, token }
}

export type FeedAddress = NonNullable<ReturnType<typeof readFeedAddress>>

function readSetting(name: string, text: string, schema: TSchema): unknown {
  const { allowed, read } = textReaderOf(name, schema)
  const format = formats[schema.format]
  const value = read(text)
  const expected = value === undefined ? allowed : format && !format.isValid(text) ? format.expected : undefined
  if (expected === undefined) return value
  throw new SettingsError(`${name}=${schema.writeOnly ? '…' : hidePassword(text)}: expected ${expected}.`)
}

/** Scheme, host, port and path only; no slash at the end. */
function isAddress(text: string): boolean {
  if (!/^https?:/.test(text) || !URL.canParse(text)) return false
  const { origin, pathname } = new URL(text)
  return text === origin + pathname.replace(/\/$/, '')
}

/** Scheme, host and port only, as browsers send it. */
const isOrigin = (text: string): boolean => /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text

/** A URL with decodable user and password; a Postgres URL may have several hosts, separated by commas. */
function isServer(text: string): boolean {
  const host = text.lastIndexOf('@') + 1
  const url = text.slice(0, host) + text.slice(host).replace(/,[^/?]*/, '')
  try {
    return decodeURIComponent(new URL(url).href) !== ''
  } catch {
    return false
  }
}

/** Masks everything before the host, in valid and invalid URLs. */
const hidePassword = (text: string): string => text.replace(/^(\w+:\/\/)?.*@/, '$1…@')
