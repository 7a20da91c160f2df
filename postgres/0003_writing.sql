-- What makes writing to ClickHouse exact although it has no transactions: one writer at a time, and a note of
-- every batch under way. Locks are rows, since the embedded Postgres is one session shared by all clients.

CREATE TABLE leases (
  name       text PRIMARY KEY,                                   -- 'writer:acme', 'migrate'
  owner      text NOT NULL,                                      -- a UUID of the holder's own
  fence      bigint NOT NULL,                                    -- one more at every change of hands
  expires_at timestamptz NOT NULL                                -- by this database's clock; the holder keeps moving it
);

-- A row stands here from before a batch is sent until ClickHouse confirmed it. One that is left over names the days
-- whose index and rollups may be short; whoever holds the account's lease next rebuilds them first.
CREATE TABLE import_batches (
  token      text PRIMARY KEY,                                   -- insert_deduplication_token and query id of the insert
  account_id text NOT NULL REFERENCES accounts (id),
  resource   text NOT NULL CHECK (resource IN ('clicks', 'conversions')),
  first_at   timestamptz(3) NOT NULL,                            -- earliest clicked_at or converted_at in the batch
  last_at    timestamptz(3) NOT NULL,                            -- latest
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE INDEX import_batches_by_account ON import_batches (account_id);
