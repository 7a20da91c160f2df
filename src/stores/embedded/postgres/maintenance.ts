/** Analyzes tables that changed by a tenth or never were, as autovacuum does. Clients wait 20 ms per table for the small sample. */
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

/** Statements that a Postgres server runs by itself, and a single session without background processes does not. */
export const maintenance = [
  { statement: analyzeChanged, everyMs: 10_000 },
  { statement: 'CHECKPOINT', everyMs: 5 * 60_000 },
  { statement: 'VACUUM', everyMs: 60 * 60_000 },
]
