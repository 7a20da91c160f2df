/** A statement that a Postgres server runs by itself, and a single session without background processes does not. */
export interface Maintenance {
  statement: string
  everyMs: number
}

/**
 * Analyzes the tables that have changed by a tenth, as autovacuum does, or were never analyzed: after an import the planner
 * would otherwise sort all rows of an account for each page. A sample of 3,000 rows takes some 20 ms per table, for which
 * every client waits; Postgres's own size takes ten times as long.
 */
const analyzeChanged = `
DO $$
DECLARE
  changed regclass;
BEGIN
  PERFORM set_config('default_statistics_target', '10', true);
  FOR changed IN
    SELECT relid FROM pg_stat_user_tables
    WHERE n_mod_since_analyze > 50 + n_live_tup / 10 OR last_analyze IS NULL
  LOOP
    EXECUTE format('ANALYZE %s', changed);
  END LOOP;
END $$`

export const maintenance: readonly Maintenance[] = [
  { statement: analyzeChanged, everyMs: 10_000 },
  { statement: 'CHECKPOINT', everyMs: 5 * 60_000 },
  { statement: 'VACUUM', everyMs: 60 * 60_000 },
]
