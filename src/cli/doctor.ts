import { text } from 'node:stream/consumers'
import { causeOf } from '../expectedError.ts'
import { zoneData } from '../package.ts'
import { readFeedAddress, type Settings } from '../settings/settings.ts'
import type { Client } from '../stores/clickhouse/client.ts'
import { damageAdvice, describeDamage } from '../stores/clickhouse/damagedData.ts'
import { findDamagedParts } from '../stores/clickhouse/damagedParts.ts'
import { checkGrant, logsGrant, readerGrants, writerGrants } from '../stores/clickhouse/grants.ts'
import { selectRows } from '../stores/clickhouse/select.ts'
import { ch, count, instant, text as textValue } from '../stores/clickhouse/sql.ts'
import { isUsable, newReplicasOf } from '../stores/cluster/chooseServer.ts'
import { askNode } from '../stores/cluster/replicaState.ts'
import { assertWritable } from '../stores/migrations/migrate.ts'
import { missingEngines, openStores, type Stores } from '../stores/open.ts'
import { openRedis } from '../stores/redis.ts'
import { dayMs } from '../stores/timing/units.ts'
import type { Command, CommandContext } from './context.ts'
import { CommandError } from './errors.ts'

interface Line {
  check: string
  /** What is wrong; empty: nothing. */
  found: string
  mend: string
  /** Whether `doctor` exits with 0 in spite of it. */
  isWarning?: true
}

const warning = (check: string, found: string, mend: string): Line => ({ check, found, mend, isWarning: true })

export function addDoctorCommand(program: Command, context: CommandContext): void {
  program
    .command('doctor')
    .description('Check settings, databases and this machine; exit with 1 if something must be mended.')
    .notes('\nIt changes nothing. Run it with the settings of the server, as its user.\n\nExample:\n  tributary doctor')
    .action(async () => {
      const lines = await examine(context)
      const texts = lines.map(({ check, found, mend, isWarning }) =>
        found ? `${isWarning ? 'WARN' : 'FAIL'}  ${check}: ${found} ${mend}` : `ok    ${check}`,
      )
      context.print({ checks: lines }, texts.join('\n'))
      const failed = lines.filter(({ found, isWarning }) => found && !isWarning).length
      if (failed > 0) throw new CommandError(`${failed} of ${lines.length} checks failed.`)
    })
}

async function examine(context: CommandContext): Promise<Line[]> {
  const lines: Line[] = examineRuntime(Date.now())
  /** @param find returns or throws what is wrong, or returns several lines */
  const add = async (check: string, mend: string, find: () => Promise<unknown>) => {
    const found = await find().catch((error) => `${causeOf(error)}.`)
    if (Array.isArray(found)) lines.push(...found)
    else lines.push({ check, found: typeof found === 'string' ? found : '', mend })
  }
  await add('open files', 'Raise LimitNOFILE of systemd, or ulimit -n, to 10000 or more.', async () => {
    const { userLimits } = process.report.getReport() as { userLimits?: { open_files: { soft: number | string } } }
    const limit = userLimits?.open_files.soft
    return Number(limit) < 10_000 ? `The limit is ${limit}; each connection needs a file.` : undefined
  })
  let opened: Stores | undefined
  await add('settings', 'Correct the setting, or start the database.', async () => {
    const { settings } = context
    readFeedAddress(settings)
    const [missing] = missingEngines(settings)
    if (missing) return `DATA_DIR=${settings.DATA_DIR}: there is no store of ${missing}; run tributary migrate.`
    opened = await openStores(settings, () => {}, { mayCreate: false })
    return undefined
  })
  if (!opened) return lines
  lines.push(examineBackup(context.settings))
  const stores: Stores = opened
  const { CLICKHOUSE_READER_URL, REDIS_URL } = context.settings
  const migrateMend = 'Run tributary migrate of this version, as the owner of the tables.'
  const queryMend = 'Correct the cause, then run tributary doctor again: it could not check this database.'
  const grantMend = 'Run docs/clickhouse-users.sql of this version.'
  try {
    await add('tables', migrateMend, () => assertWritable(stores))
    await add('PostgreSQL', queryMend, () => inPostgres(stores))
    await add('ClickHouse', queryMend, () => inClickHouse(stores))
    await add('files of ClickHouse', damageAdvice, () => inFiles(stores))
    await add('replicas of ClickHouse', queryMend, () => inReplicas(stores))
    await add('grants in ClickHouse', grantMend, () => lackedGrant(stores, CLICKHOUSE_READER_URL))
    const logs = 'grant for the logs of ClickHouse'
    await add(logs, grantMend, async () => {
      const isGranted = await isTrue(stores.clickhouse.client, `CHECK ${logsGrant}`)
      const lack = `The size of the logs is unknown: the user of CLICKHOUSE_URL lacks: ${logsGrant}.`
      return [warning(logs, isGranted ? '' : lack, grantMend)]
    })
    if (REDIS_URL !== undefined)
      await add('Redis', 'Start Redis, or correct REDIS_URL.', async () => {
        const redis = await openRedis(REDIS_URL, () => {})
        await redis.ping().finally(redis.close)
      })
    return lines
  } finally {
    await stores.close()
  }
}

/** The last day with fixes, as https://nodejs.org/en/about/previous-releases has them. */
const lastFixes: Readonly<Record<string, string>> = { 20: '2026-04-30', 22: '2027-04-30', 24: '2028-04-30' }

const yearMs = 365 * dayMs

/**
 * Examines the Node.js of this process and its zone data.
 * @param versions of Node.js and of the zone data, such as `2025c`
 * @returns lines that warn, or that have found nothing
 */
export function examineRuntime(nowMs: number, { node, zones } = { node: process.versions.node, zones: zoneData }) {
  const [major = ''] = node.split('.')
  const last = lastFixes[major]
  const isEnded = last !== undefined && nowMs >= Date.parse(last) + dayMs
  // The name of a release has its year only, so its age counts from the middle of that year.
  const isOld = nowMs > Date.UTC(Number(zones.slice(0, 4)), 6, 1) + yearMs
  const end = isEnded ? `Node.js ${major} gets no fixes since ${last?.slice(0, 7)}.` : ''
  const age = isOld ? `It is of ${zones.slice(0, 4)}, so days are wrong in zones whose rules have changed since.` : ''
  const zonesMend = 'Install the last patch release of Node.js, which contains newer zone data.'
  return [warning(`Node.js ${node}`, end, 'Install Node.js 24.'), warning(`zone data ${zones}`, age, zonesMend)]
}

/** Warns of a store that `tributary backup` does not copy, and that has no backup of one moment. */
export function examineBackup({ DATABASE_URL, CLICKHOUSE_URL }: Partial<Settings>): Line {
  const isMixed = DATABASE_URL !== undefined && CLICKHOUSE_URL === undefined
  const found = 'No command copies an embedded ClickHouse with PostgreSQL on a server while the server runs.'
  return warning('backup', isMixed ? found : '', 'Stop the server for each backup, as docs/restore.md says.')
}

const clockMend = 'Synchronize the clocks of both machines, with NTP.'

async function inPostgres({ postgres }: Stores): Promise<readonly Line[]> {
  return await postgres<Line[]>`
    SELECT name AS check, coalesce(found, '') AS found, mend
    FROM (SELECT extract(epoch FROM clock_timestamp()) - ${Date.now() / 1000}::numeric AS difference) AS clocks, LATERAL (VALUES
      ('version of PostgreSQL', 'Use version 15 or later.',
        CASE WHEN current_setting('server_version_num')::int < 150000 THEN 'It is ' || current_setting('server_version') || '.' END),
      ('clock of PostgreSQL', ${clockMend},
        CASE WHEN abs(difference) > 1 THEN 'It differs from this machine by ' || round(difference, 1) || ' s.' END),
      ('fsync of PostgreSQL', 'Turn it on for the server, the database and the role: a power cut loses acknowledged rows.',
        (SELECT string_agg(setting.name || ' is off.', ' ' ORDER BY setting.name) FROM pg_settings AS setting
          WHERE setting.name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off')),
      ('grants in PostgreSQL', 'Connect as the owner of the tables, or grant this.',
        (SELECT format('The user of DATABASE_URL lacks %s on %s.', privilege, relname)
          FROM pg_class, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
          WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND NOT has_table_privilege(oid, privilege)
          LIMIT 1))
    ) AS checks (name, mend, found)`
}

/** ClickHouse's own logs may have as many bytes, also if the data has less. */
const unlimitedLogBytesMax = 100 << 20

/** In a cluster there are the lines of every node that responds, with its address. */
async function inClickHouse({ clickhouse: { client, cluster } }: Stores): Promise<Line[]> {
  const query = ch`
    WITH
      (toUnixTimestamp64Milli(now64(3)) - toUnixTimestamp64Milli(${instant(Date.now())})) / 1000 AS difference,
      arrayMap(part -> toUInt32OrZero(part), splitByChar('.', version())) AS version,
      100 * filesystemAvailable() / filesystemCapacity() AS percent,
      (SELECT groupArray(name) FROM system.tables
        WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'converted_click_rows'
          AND NOT (engine_full LIKE '%fsync_after_insert = 1%' AND engine_full LIKE '%fsync_part_directory = 1%'
            AND (engine NOT LIKE 'Replicated%' OR engine_full LIKE '%min_compressed_bytes_to_fsync_after_fetch = 1%'))) AS unsynced,
      (SELECT groupArray(name) FROM system.tables
        WHERE database = currentDatabase() AND startsWith(engine, 'Replicated')) AS replicated,
      (SELECT (ifNull(sumIf(total_bytes, database = 'system' AND engine_full NOT LIKE '% TTL %'), 0),
          ifNull(sumIf(total_bytes, database = currentDatabase()), 0))
        FROM system.tables WHERE engine LIKE '%MergeTree') AS bytes
    SELECT checks.1 AS check, if(checks.3, checks.4, '') AS found, checks.2 AS mend
    FROM (SELECT arrayJoin([
      ('version of ClickHouse', 'Use version 26.3 or later.', (version[1], version[2]) < (26, 3), 'It is ' || version() || '.'),
      ('clock of ClickHouse', ${textValue(clockMend)}, abs(difference) > 1,
        'It differs from this machine by ' || toString(round(difference, 1)) || ' s.'),
      ('free space of ClickHouse', 'Free space, or enlarge the disk: merges need room.', percent < 5,
        toString(round(percent, 1)) || ' % of its disk are free.'),
      ('fsync of ClickHouse',
        'Run ALTER TABLE … MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_fetch = 1.',
        notEmpty(unsynced), 'A power cut loses acknowledged rows of ' || arrayStringConcat(unsynced, ', ') || '.'),
      ('logs of ClickHouse', 'Give them a TTL: docs/setup.md. Drop log tables that ClickHouse renamed, such as system.text_log_0.',
        bytes.1 > greatest(bytes.2, ${count(unlimitedLogBytesMax)}),
        'Its log tables without a TTL have ' || formatReadableSize(bytes.1) || ', the data ' || formatReadableSize(bytes.2) || '.'),
      ('tables of ClickHouse', 'Set CLICKHOUSE_CLUSTER: docs/scaling.md.', notEmpty(replicated) AND ${count(cluster?.isReplicated ? 0 : 1)} = 1,
        'Without it, rows of replicated tables are acknowledged with one copy: ' || arrayStringConcat(replicated, ', ') || '.')
    ]) AS checks)`
  const nodes = cluster?.nodes.filter(({ failure }) => failure === undefined) ?? [{ client, url: undefined }]
  const lines = nodes.map(async ({ client: reader, url }) => {
    const found = await selectRows<Line>({ reader, onQuery: undefined }, query, { label: 'doctor' })
    return found.map((line) => ({ ...line, check: url ? `${line.check} at ${url}` : line.check }))
  })
  return (await Promise.all(lines)).flat()
}

/** Longest time for the files of a table. */
const filesTimeoutS = 20

/** Names damaged parts, and warns if not all files could be compared with their checksums. */
async function inFiles({ clickhouse: { client, cluster } }: Stores): Promise<Line[]> {
  const check = 'files of ClickHouse'
  const lines: Line[] = []
  const nodes = cluster?.nodes.filter(({ failure }) => failure === undefined).map((node) => node.client) ?? [client]
  try {
    for await (const part of findDamagedParts(nodes, filesTimeoutS))
      lines.push({ check, found: `It cannot read ${describeDamage(part)}.`, mend: damageAdvice })
  } catch (error) {
    const mend = 'Run docs/clickhouse-users.sql of this version, if a grant is missing, then tributary verify.'
    return [...lines, warning(check, `Not all are compared: ${causeOf(error)}.`, mend)]
  }
  return lines.length > 0 ? lines : [{ check, found: '', mend: damageAdvice }]
}

/** Says which nodes of a cluster do not respond, or lack rows, and how to remove a lost replica. */
async function inReplicas({ clickhouse: { cluster } }: Stores): Promise<Line[]> {
  const added = newReplicasOf(cluster?.allNodes ?? []).map(([node]) => node)
  const lines = (cluster?.allNodes ?? []).map((node): Line => {
    const check = `node ${node.url}`
    if (node.failure !== undefined)
      return { check, found: `It is unavailable: ${causeOf(node.failure)}.`, mend: 'Start it, or correct its address.' }
    if (added.includes(node)) return { check, found: 'It has no copy of the rows of its shard.', mend: fillMend }
    if (!node.state?.isForgotten) return { check, found: '', mend: emptyMend }
    if (cluster?.nodes.includes(node)) return { check, found: 'Its tables are read-only.', mend: readOnlyMend }
    // The other replica is registered alone, and has all rows.
    return { check, found: 'Keeper does not know its tables.', mend: emptyMend }
  })
  const query = `
    SELECT DISTINCT arrayJoin(mapKeys(mapFilter((name, isActive) -> NOT isActive, replica_is_active))) AS name
    FROM system.replicas
    WHERE database = currentDatabase()`
  for (const { client, url } of cluster?.isReplicated ? cluster.nodes.filter(isUsable) : []) {
    for (const { name } of await askNode<{ name: string }>(client, query)) {
      const drop = `SYSTEM DROP REPLICA '${name}' FROM DATABASE ${cluster?.localDatabase}`
      const found = `The other replica, ${name}, is not active: rows are read, and none are stored.`
      const mend = `Start it. If its disk is lost, run as an administrator of ${url}: ${drop}; docs/restore.md says how to replace it.`
      lines.push({ check: `replica of ${url}`, found, mend })
    }
  }
  return lines
}

const fillMend = 'Remove the lost replica if a line names it, then run tributary migrate as the owner of the tables.'
const readOnlyMend =
  'Wait a minute: it may be starting. If this stays, Keeper has lost its data: docs/restore.md. Drop nothing.'
const emptyMend = 'Drop both databases of this node, then run tributary migrate as the owner of the tables.'

// TRAP: CHECK GRANT takes no FORMAT, which `query` of the driver adds.
const isTrue = async (user: Client, query: string) => (await text((await user.exec({ query })).stream)).trim() === '1'

/** @returns what a user of ClickHouse lacks, or a reader that may write */
async function lackedGrant({ clickhouse }: Stores, readerUrl: string | undefined): Promise<string | undefined> {
  const { client, reader, database } = clickhouse
  for (const grant of writerGrants(database).filter((one) => one !== logsGrant && one !== checkGrant(database)))
    if (!(await isTrue(client, `CHECK ${grant}`))) return `The user of CLICKHOUSE_URL lacks: ${grant}.`
  for (const grant of readerGrants(database))
    if (!(await isTrue(reader, `CHECK ${grant}`))) return `The user of CLICKHOUSE_READER_URL lacks: ${grant}.`
  const mayWrite = readerUrl !== undefined && (await isTrue(reader, "SELECT getSetting('readonly') = 0"))
  return mayWrite ? 'The user of CLICKHOUSE_READER_URL may write.' : undefined
}
