-- How many rows were confirmed as stored, so that `verify` notices rows that ClickHouse has lost. A batch carries what it
-- adds from the moment it is recorded; the statement that clears it adds that here, so neither happens without the other.

ALTER TABLE import_batches
  ADD COLUMN months date[]    NOT NULL DEFAULT '{}',             -- first days of the UTC months of its rows, '2026-11-01'
  ADD COLUMN added  integer[] NOT NULL DEFAULT '{}';             -- ids that it adds to each; below 0: they move elsewhere

CREATE TABLE stored_rows (
  account_id text NOT NULL REFERENCES accounts (id),
  resource   text NOT NULL CHECK (resource IN ('clicks', 'conversions')),
  month      date NOT NULL,                                      -- its first day, UTC, of clicked_at or converted_at
  rows       bigint NOT NULL,                                    -- distinct ids confirmed
  PRIMARY KEY (account_id, resource, month)
);

-- Accounts from before these counts are counted once, from the rows they have, by their next writer or a running server.
INSERT INTO account_tasks SELECT id, 'count_stored_rows' FROM accounts;
