-- Baseline of the Postgres schema, of version 1.0. Its statements never change: each change is a new file. `schema.sql` shows the
-- tables that result from all files.
--
-- readable from: 1.0.0
-- writable from: 1.0.0
--
-- Postgres holds what is small and edited, and what makes writing to ClickHouse exact. No table grows with traffic. Text in keys and
-- indexes is sorted bytewise (COLLATE "C"): an upgrade of the operating system may change another order, and so make indexes wrong.

-- Subscription plans, accounts and their API keys.
CREATE TABLE plans (
  name                         text COLLATE "C" PRIMARY KEY,     -- 'pro'
  has_api                      boolean NOT NULL,                 -- false: every request gets plan_required
  requests_per_minute          integer CHECK (requests_per_minute > 0),          -- per key, all endpoints but events; null without API
  events_per_minute            integer CHECK (events_per_minute > 0),            -- per key, POST /events
  identifier_events_per_minute integer CHECK (identifier_events_per_minute > 0), -- per click or visitor, POST /events
  click_allowance              bigint  NOT NULL CHECK (click_allowance >= 0),    -- tracked clicks a UTC month; 20 times it is the ceiling of events
  retained_click_months        smallint NOT NULL DEFAULT 0 CHECK (retained_click_months >= 0), -- whole UTC months before the present one; 0: all
  retained_event_months        smallint NOT NULL DEFAULT 0 CHECK (retained_event_months >= 0)
);

INSERT INTO plans VALUES
  ('free',  false, NULL, NULL,  NULL,    10000),
  ('pro',   true,   600,  6000,  120,  1000000),
  ('scale', true,  6000, 60000, 1200, 10000000);

CREATE TABLE accounts (
  id         text COLLATE "C" PRIMARY KEY,                       -- 'acme'
  name       text NOT NULL,
  plan       text COLLATE "C" NOT NULL REFERENCES plans (name),
  currency   text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),      -- ISO 4217; every …Base amount is in it
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  import_of  text,                                               -- SHA-256 of the account.json that is being imported, or null
  retained_click_months smallint CHECK (retained_click_months >= 0), -- as in plans; null: those of the plan
  retained_event_months smallint CHECK (retained_event_months >= 0)
);

CREATE TABLE api_keys (
  id           text COLLATE "C" PRIMARY KEY,                     -- a UUIDv7; public identifier of the key
  account_id   text COLLATE "C" NOT NULL REFERENCES accounts (id),
  name         text NOT NULL,                                    -- 'BI tool'
  hash         bytea NOT NULL UNIQUE CHECK (length(hash) = 32),  -- SHA-256 of the key; the key itself is not stored
  prefix       text NOT NULL,                                    -- 'trb_live_' and 4 characters, shown in lists
  scopes       text[] NOT NULL,                                  -- {read:clicks,read:reports}
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  expires_at   timestamptz(3),                                   -- null: never
  revoked_at   timestamptz(3),                                   -- null: valid
  shown_at     timestamptz(3) DEFAULT now(),                     -- null: its creation is running or was interrupted
  last_used_at timestamptz(3),                                   -- to the minute
  replaced_by  text COLLATE "C" REFERENCES api_keys (id)     -- the key of a rotation; null: not rotated
);

CREATE INDEX api_keys_by_account ON api_keys (account_id, created_at);

-- Running servers cache keys for some seconds. Where the engine supports LISTEN (the embedded one does not), a notification
-- tells them to expire the key with this hash, or all keys (*).
CREATE FUNCTION notify_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tributary_keys', encode(OLD.hash, 'hex'));
  RETURN NULL;
END $$;

CREATE FUNCTION notify_all_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tributary_keys', '*');
  RETURN NULL;
END $$;

-- Not for last_used_at, which changes once a minute and affects no cache.
CREATE TRIGGER api_keys_notify AFTER UPDATE OF revoked_at, expires_at, scopes OR DELETE ON api_keys
  FOR EACH ROW EXECUTE FUNCTION notify_key_change();
CREATE TRIGGER accounts_notify AFTER UPDATE ON accounts
  FOR EACH STATEMENT EXECUTE FUNCTION notify_all_keys();
CREATE TRIGGER plans_notify AFTER UPDATE ON plans
  FOR EACH STATEMENT EXECUTE FUNCTION notify_all_keys();

-- Accounts that were deleted, or are being deleted. A row is never removed, so that the id of a deleted account is not used
-- again; commands and writers ignore an account that has a row here.
CREATE TABLE account_deletions (
  account_id   text COLLATE "C" PRIMARY KEY,                     -- no reference: the account is removed, this row remains
  began_at     timestamptz(3) NOT NULL DEFAULT clock_timestamp(), -- its keys were revoked in the same statement
  completed_at timestamptz(3)                                    -- null: rows of the account may be left
);

-- One row per change made by the command. The statement that makes the change inserts it, so neither is stored without the
-- other. No reference to `accounts`: rows of a deleted account remain.
CREATE TABLE audit_log (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,    -- in the order of the changes
  at         timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  action     text NOT NULL,                                      -- 'key.revoke'
  actor      text NOT NULL,                                      -- operating system user and host of the command: 'deploy@api-1'
  account_id text COLLATE "C",                                   -- null: a change of a plan
  details    jsonb NOT NULL                                      -- new values, and in `before` the replaced ones; no secrets
);

CREATE INDEX audit_log_by_account ON audit_log (account_id, id);

-- Metadata: names of the ids in clicks and conversions. Ids are the customer's, unique within the account. They sort
-- bytewise, as in ClickHouse and in cursors. The writer sets `search_text` (src/query/searchText.ts): the values that a search
-- compares, with their case folded and an X between them.
CREATE TABLE campaigns (
  account_id        text COLLATE "C" NOT NULL REFERENCES accounts (id),
  id                text COLLATE "C" NOT NULL,
  name              text NOT NULL,
  user_id           text NOT NULL,                               -- the owner; the account's id unless imported otherwise
  status            text COLLATE "C" NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
  traffic_source_id text,
  cost_model        text,                                        -- 'cpc'
  cost_value        numeric(18, 6),                              -- in `currency`
  currency          text,
  tags              text[] NOT NULL DEFAULT '{}',
  created_at        timestamptz(3) NOT NULL,
  updated_at        timestamptz(3) NOT NULL,
  search_text       text COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE TABLE offers (
  account_id        text COLLATE "C" NOT NULL REFERENCES accounts (id),
  id                text COLLATE "C" NOT NULL,
  name              text NOT NULL,
  status            text COLLATE "C" NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
  url               text,
  affiliate_network text,
  payout_type       text,                                        -- 'cpa'
  payout            numeric(18, 6),                              -- in `currency`
  currency          text,
  countries         text[] NOT NULL DEFAULT '{}',                -- ISO 3166-1 alpha-2
  tags              text[] NOT NULL DEFAULT '{}',
  created_at        timestamptz(3) NOT NULL,
  updated_at        timestamptz(3) NOT NULL,
  search_text       text COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE TABLE landing_pages (
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  id         text COLLATE "C" NOT NULL,
  name       text NOT NULL,
  status     text COLLATE "C" NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
  url        text,
  tags       text[] NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE TABLE traffic_sources (
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  id         text COLLATE "C" NOT NULL,
  name       text NOT NULL,
  status     text COLLATE "C" NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
  category   text,                                               -- 'social'
  cost_model text,
  currency   text,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (account_id, id)
);

-- Lists are read newest first.
CREATE INDEX campaigns_newest       ON campaigns       (account_id, created_at DESC, id DESC);
CREATE INDEX offers_newest          ON offers          (account_id, created_at DESC, id DESC);
CREATE INDEX landing_pages_newest   ON landing_pages   (account_id, created_at DESC, id DESC);
CREATE INDEX traffic_sources_newest ON traffic_sources (account_id, created_at DESC, id DESC);

-- A list filtered by status reads no rows of another status.
CREATE INDEX campaigns_newest_of_status       ON campaigns       (account_id, status, created_at DESC, id DESC);
CREATE INDEX offers_newest_of_status          ON offers          (account_id, status, created_at DESC, id DESC);
CREATE INDEX landing_pages_newest_of_status   ON landing_pages   (account_id, status, created_at DESC, id DESC);
CREATE INDEX traffic_sources_newest_of_status ON traffic_sources (account_id, status, created_at DESC, id DESC);

-- The next rows of an account in list order, for search (src/api/search/slices.ts), read from the index. Without these
-- settings a planner without statistics, as after an import, sorts all rows of the account for each slice.
CREATE FUNCTION next_campaigns(of_account text, before timestamptz, before_id text, rows_max integer)
RETURNS TABLE (next_id text, next_at timestamptz, next_name text, next_text text)
LANGUAGE sql STABLE ROWS 500 SET enable_sort = off SET enable_bitmapscan = off SET enable_seqscan = off
BEGIN ATOMIC
  SELECT id, created_at, name, search_text FROM campaigns
  WHERE account_id = of_account AND (created_at, id) < (before, before_id)
  ORDER BY created_at DESC, id DESC
  LIMIT rows_max;
END;

CREATE FUNCTION next_offers(of_account text, before timestamptz, before_id text, rows_max integer)
RETURNS TABLE (next_id text, next_at timestamptz, next_name text, next_text text)
LANGUAGE sql STABLE ROWS 500 SET enable_sort = off SET enable_bitmapscan = off SET enable_seqscan = off
BEGIN ATOMIC
  SELECT id, created_at, name, search_text FROM offers
  WHERE account_id = of_account AND (created_at, id) < (before, before_id)
  ORDER BY created_at DESC, id DESC
  LIMIT rows_max;
END;

-- ClickHouse has no transactions; these tables make writing to it exact: one writer per account, and a journal of the
-- batches in flight. Locks are rows, since the embedded Postgres is one session shared by all clients.
CREATE TABLE leases (
  name               text COLLATE "C" PRIMARY KEY,               -- 'writer:acme', 'migrate'
  owner              text NOT NULL,                              -- a UUID of the holder
  fence              bigint NOT NULL,                            -- incremented at every change of holder
  expires_at         timestamptz NOT NULL,                       -- by this database's clock; the holder extends it
  -- A writer records, before it sends a statement to ClickHouse, until when that statement may begin; ClickHouse refuses it
  -- later. The next holder waits until then and ends what is running, so no statement of an earlier writer starts later.
  statement_deadline timestamptz(3)                              -- by ClickHouse's clock; null: no statement is pending
);

-- A row exists from before a batch is sent until ClickHouse has confirmed it. A leftover row names the days whose index and
-- sums may be incomplete; the next holder of the account's lease repairs them first.
CREATE TABLE import_batches (
  token      text COLLATE "C" PRIMARY KEY,                       -- names the batch; each insert attempt has its own query id
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  resource   text COLLATE "C" NOT NULL CHECK (resource IN ('clicks', 'conversions')),
  first_at   timestamptz(3) NOT NULL,                            -- earliest clicked_at or converted_at in the batch
  last_at    timestamptz(3) NOT NULL,                            -- latest
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  months     date[]    NOT NULL DEFAULT '{}',                    -- first days of the UTC months of its rows, '2026-11-01'
  added      integer[] NOT NULL DEFAULT '{}',                    -- ids that it adds to each; below 0: they move to another
  stored_at  timestamptz(3)                                      -- of its rows; set by the trigger below
);

CREATE INDEX import_batches_by_account ON import_batches (account_id);

-- Work that an account still needs after its batches are confirmed. The statement that records a batch also records the task
-- that the batch makes necessary; the writer that completes the task removes it, under the same lease. After an interrupted
-- import the next writer completes it, or a running server within a minute.
CREATE TABLE account_tasks (
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  task       text COLLATE "C" NOT NULL,                          -- 'attribute_late_clicks' or 'attribute_conversions'
  PRIMARY KEY (account_id, task)
);

-- Clicks and events before a month that are removed, or being removed. The month never moves back: the sums still count the
-- removed clicks, so their rows must not be imported again.
CREATE TABLE retained_ranges (
  account_id    text COLLATE "C" NOT NULL REFERENCES accounts (id),
  resource      text COLLATE "C" NOT NULL CHECK (resource IN ('clicks', 'events')),
  retained_from date NOT NULL,                                   -- first day of a UTC month, of clicked_at or occurred_at
  recorded_at   timestamptz(3) NOT NULL DEFAULT clock_timestamp(), -- rows are removed once servers have read it
  is_complete   boolean NOT NULL DEFAULT false,                  -- false: earlier rows may be left
  PRIMARY KEY (account_id, resource)
);

-- Checksums of what remains of the clicks of a removed month, so that `verify` notices a change.
CREATE TABLE removed_months (
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  table_name text COLLATE "C" NOT NULL,                          -- 'sums_by_day', 'click_index'
  month      date NOT NULL,                                      -- its first day, UTC
  checksum   text NOT NULL,
  PRIMARY KEY (account_id, table_name, month)
);

-- Visitors and clicks that were erased, as keyed hashes: rows of them that are imported or restored are erased again.
CREATE TABLE erasures (
  account_id  text COLLATE "C" NOT NULL REFERENCES accounts (id),
  kind        text COLLATE "C" NOT NULL CHECK (kind IN ('visitor', 'click')), -- a click that was erased with its visitor is listed too
  key         uuid NOT NULL,                                     -- random; the same one for all erasures of the account
  hash        bytea NOT NULL CHECK (length(hash) = 32),          -- SHA-256 of key, kind and identifier, with spaces between
  erased_at   timestamptz(3) NOT NULL,                           -- rows with a later time are new data
  is_complete boolean NOT NULL DEFAULT false,                    -- false: rows may be left
  PRIMARY KEY (account_id, kind, key, hash)
);

CREATE INDEX erasures_incomplete ON erasures (account_id) WHERE NOT is_complete;

-- Accounts with pixel events that are being rewritten with a later `stored_at`. Clicks and conversions have the journal.
CREATE TABLE event_rewrites (
  account_id text COLLATE "C" PRIMARY KEY REFERENCES accounts (id),
  began_at   timestamptz(3) NOT NULL                             -- by ClickHouse's clock, before any new `stored_at`
);

-- Number of rows confirmed as stored, so that `verify` notices rows that ClickHouse has lost. A batch records what it adds;
-- the statement that clears the batch adds that here, so neither happens without the other.
CREATE TABLE stored_rows (
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  resource   text COLLATE "C" NOT NULL CHECK (resource IN ('clicks', 'conversions')),
  month      date NOT NULL,                                      -- its first day, UTC, of clicked_at or converted_at
  rows       bigint NOT NULL,                                    -- distinct ids confirmed
  PRIMARY KEY (account_id, resource, month)
);

-- The time of storage (`storedAt`) of clicks and conversions, and the `asOf` of reads by it. A clock may be set back, and a row
-- stored before an `asOf` already returned would never be read. So each batch gets a time later than that of every earlier
-- batch of its account, and never before this database's clock. `asOf` is just after the last one assigned, or the first of
-- the batches that are not confirmed.
CREATE TABLE watermarks (
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  resource   text COLLATE "C" NOT NULL CHECK (resource IN ('clicks', 'conversions')),
  stored_at  timestamptz(3) NOT NULL,                            -- of the latest batch
  PRIMARY KEY (account_id, resource)
);

-- The watermark's row is locked until the batch is committed, so batches become visible in the order of their times.
CREATE FUNCTION set_stored_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO watermarks AS known
  SELECT id, NEW.resource, greatest(clock_timestamp(), created_at + interval '1 millisecond')
  FROM accounts
  WHERE id = NEW.account_id
  ON CONFLICT (account_id, resource) DO UPDATE
  SET stored_at = greatest(known.stored_at + interval '1 millisecond', excluded.stored_at)
  RETURNING stored_at INTO NEW.stored_at;
  RETURN NEW;
END $$;

CREATE TRIGGER import_batches_stored_at BEFORE INSERT ON import_batches
  FOR EACH ROW EXECUTE FUNCTION set_stored_at();
