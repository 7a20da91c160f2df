/**
 * The statements that the engine runs, as `default`, at its start: they open the HTTP port, write its number to a file, and
 * wait for ever, since the engine ends with its last statement. 3 s is the longest sleep allowed; one block is one row.
 */
export function startStatements(portFile: string): string {
  return `
  SYSTEM START LISTEN HTTP;
  SELECT getServerPort('http_port') INTO OUTFILE '${portFile.replace(/['\\]/g, '\\$&')}' TRUNCATE FORMAT TSV;
  SELECT sleepEachRow(3) FROM system.numbers SETTINGS max_block_size = 1 FORMAT Null`
}

/**
 * Caches and memory for a machine that also runs the API; one small log file.
 * TRAP: the level of the log is `log-level`; `logger.level` counts only in clickhouse-server.
 */
export function configXml(usersFile: string, logFile: string, memory: number): string {
  return `<clickhouse>
  <users_config>${xml(usersFile)}</users_config>
  <timezone>UTC</timezone>
  <access_control_improvements><table_engines_require_grant>true</table_engines_require_grant></access_control_improvements>
  <log-level>warning</log-level>
  <logger>
    <log>${xml(logFile)}</log>
    <size>5M</size>
    <count>2</count>
  </logger>
  <max_server_memory_usage>${memory}</max_server_memory_usage>
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

const xml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
