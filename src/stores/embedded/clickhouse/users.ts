import { ownerGrants, readerGrants, readerSettings, writerGrants } from '../../clickhouse/grants.ts'
import type { MemoryLimits } from './memory.ts'

export const embeddedDatabase = 'tributary'

export interface ClickHouseUser {
  name: string
  passwordSha256: string
  grants: readonly string[]
  /** Settings that its queries may not change. */
  settings?: Readonly<Record<string, string>>
}

/** The writer also creates the tables, inspects parts, merges and queries, and ends queries; the reader reads. */
export function embeddedUsers(
  passwordSha256: { writer: string; reader: string },
  memory: MemoryLimits,
): ClickHouseUser[] {
  return [
    {
      name: writerName,
      passwordSha256: passwordSha256.writer,
      grants: [
        `GRANT CREATE DATABASE ON ${embeddedDatabase}.*`,
        ...ownerGrants(embeddedDatabase),
        ...writerGrants(embeddedDatabase),
        'GRANT KILL QUERY ON *.*',
        ...['events', 'merges'].map((table) => `GRANT SELECT ON system.${table}`),
      ],
    },
    {
      name: readerName,
      passwordSha256: passwordSha256.reader,
      grants: readerGrants(embeddedDatabase),
      settings: readerSettings(memory),
    },
  ]
}

export const writerName = 'tributary'
export const readerName = 'tributary_reader'

/** Settings by which a query uses files or other servers without any grant. `merge_tree_` marks settings of tables. */
const outsideSettings = [
  'format_schema',
  'format_schema_source',
  'output_format_schema',
  'format_template_row',
  'format_template_resultset',
  'input_format_record_errors_file_path',
  'format_avro_schema_registry_url',
  'merge_tree_disk',
  'merge_tree_storage_policy',
]

/**
 * The start statements run as a `default` without a password, which may do nothing else and has no other session. Its profile
 * resets what clickhouse-local turns on and a server does not.
 * TRAP: only the profile named `default` constrains settings of tables, for every user.
 */
export function usersXml(users: readonly ClickHouseUser[]): string {
  return `<clickhouse>
  <profiles>
    <default>
      <max_concurrent_queries_for_user>100</max_concurrent_queries_for_user>
      <http_send_timeout>3600</http_send_timeout>
      <implicit_select>0</implicit_select>
      <allow_introspection_functions>0</allow_introspection_functions>
      ${constraintsXml(outsideSettings)}
    </default>
    <starter><max_sessions_for_user>1</max_sessions_for_user></starter>
    ${users.map(profileXml).join('')}
  </profiles>
  <quotas><default></default></quotas>
  <users>
    <default>
      <password></password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>starter</profile>
      <quota>default</quota>
      ${grantsXml(['GRANT SYSTEM LISTEN ON *.*', 'GRANT SELECT ON system.numbers'])}
    </default>
    ${users.map(userXml).join('')}
  </users>
</clickhouse>
`
}

function profileXml({ name, settings = {} }: ClickHouseUser): string {
  const values = Object.entries(settings).map(([setting, value]) => `<${setting}>${value}</${setting}>`)
  return `<${name}><profile>default</profile>${values.join('')}${constraintsXml(Object.keys(settings))}</${name}>`
}

const constraintsXml = (settings: readonly string[]): string =>
  `<constraints>${settings.map((setting) => `<${setting}><readonly/></${setting}>`).join('')}</constraints>`

function userXml({ name, passwordSha256, grants }: ClickHouseUser): string {
  return `<${name}>
      <password_sha256_hex>${passwordSha256}</password_sha256_hex>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>${name}</profile>
      <quota>default</quota>
      ${grantsXml(grants)}
    </${name}>`
}

const grantsXml = (grants: readonly string[]): string =>
  `<grants>${grants.map((grant) => `<query>${grant}</query>`).join('')}</grants>`
