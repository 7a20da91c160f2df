import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

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
      description:
        'ClickHouse over HTTP: `http://user:password@host:8123/database`. Without it a real ClickHouse runs as a child process.',
    }),
  ),
  DATABASE_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://.+',
      description: 'Postgres: `postgres://user:password@host:5432/database`. Without it Postgres is embedded.',
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
    throw new SettingsError(`${name}=${environment[name] ?? ''}: ${error.message.toLowerCase()}.`)
  }
  return settings as Settings
}
