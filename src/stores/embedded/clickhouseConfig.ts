/**
 * What the engine runs, as `default`, when it starts: it opens the HTTP port, then waits for ever, since the engine ends with
 * its last statement. 3 s is the longest sleep allowed, one block is one row.
 */
export const startStatements = `
  SYSTEM START LISTEN HTTP;
  SELECT sleepEachRow(3) FROM system.numbers SETTINGS max_block_size = 1 FORMAT Null`

/**
 * Two users. The start statements can only run as a passwordless `default`; it may do what they do and nothing else, and
 * `max_sessions_for_user` lets nobody else in under that name as long as they run, which is for the engine's whole life.
 * Ours has a password and may do all but reach outside: no files, URLs or other servers. Its profile takes back what
 * clickhouse-local turns on and a server does not, and lets a reader of a long answer pause; it counts only here, in no query.
 */
export function usersXml(username: string, passwordSha256: string): string {
  return `<clickhouse>
  <profiles>
    <default>
      <max_concurrent_queries_for_user>100</max_concurrent_queries_for_user>
      <http_send_timeout>3600</http_send_timeout>
      <implicit_select>0</implicit_select>
      <allow_introspection_functions>0</allow_introspection_functions>
    </default>
    <starter><max_sessions_for_user>1</max_sessions_for_user></starter>
  </profiles>
  <quotas><default></default></quotas>
  <users>
    <default>
      <password></password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>starter</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SYSTEM LISTEN ON *.*</query>
        <query>GRANT SELECT ON system.numbers</query>
      </grants>
    </default>
    <${username}>
      <password_sha256_hex>${passwordSha256}</password_sha256_hex>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT CHECK, SHOW, SELECT, INSERT, ALTER, CREATE, DROP, UNDROP TABLE, TRUNCATE, OPTIMIZE, KILL QUERY, MOVE PARTITION BETWEEN SHARDS, SYSTEM, dictGet, INTROSPECTION ON *.*</query>
        <query>GRANT TABLE ENGINE ON *</query>
        <query>GRANT SET DEFINER ON *</query>
      </grants>
    </${username}>
  </users>
</clickhouse>
`
}

/**
 * The server's settings: caches and memory for a machine that runs the API as well, one small log file, no log tables (this
 * engine has none). TRAP: the level of the log is `log-level`; `logger.level` counts only in clickhouse-server.
 */
export function configXml({ usersFile, logFile }: { usersFile: string; logFile: string }): string {
  return `<clickhouse>
  <users_config>${xml(usersFile)}</users_config>
  <timezone>UTC</timezone>
  <log-level>warning</log-level>
  <logger>
    <log>${xml(logFile)}</log>
    <size>5M</size>
    <count>2</count>
  </logger>
  <max_server_memory_usage_to_ram_ratio>0.5</max_server_memory_usage_to_ram_ratio>
  <memory_worker_use_cgroup>0</memory_worker_use_cgroup>
  <memory_worker_period_ms>500</memory_worker_period_ms>
  <asynchronous_metrics_update_period_s>60</asynchronous_metrics_update_period_s>
  <mark_cache_size>134217728</mark_cache_size>
  <index_mark_cache_size>67108864</index_mark_cache_size>
  <primary_index_cache_size>134217728</primary_index_cache_size>
  <text_index_tokens_cache_size>33554432</text_index_tokens_cache_size>
  <text_index_header_cache_size>33554432</text_index_header_cache_size>
  <text_index_postings_cache_size>67108864</text_index_postings_cache_size>
  <compiled_expression_cache_size>33554432</compiled_expression_cache_size>
</clickhouse>
`
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
