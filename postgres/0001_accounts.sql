-- Who may ask for what: plans, accounts and their API keys.
-- Postgres holds what is small and edited; nothing here grows with traffic.

CREATE TABLE plans (
  name                         text PRIMARY KEY,                 -- 'pro'
  has_api                      boolean NOT NULL,                 -- false: every key answers plan_required
  requests_per_minute          integer CHECK (requests_per_minute > 0),          -- per key, all endpoints but events; null without API
  events_per_minute            integer CHECK (events_per_minute > 0),            -- per key, POST /events
  identifier_events_per_minute integer CHECK (identifier_events_per_minute > 0), -- per click or visitor, POST /events
  click_allowance              bigint  NOT NULL CHECK (click_allowance >= 0)     -- tracked clicks a UTC month; 20 times it is the ceiling of events
);

INSERT INTO plans VALUES
  ('free',  false, NULL, NULL,  NULL,    10000),
  ('pro',   true,   600,  6000,  120,  1000000),
  ('scale', true,  6000, 60000, 1200, 10000000);

CREATE TABLE accounts (
  id         text COLLATE "C" PRIMARY KEY,                       -- 'acme'
  name       text NOT NULL,
  plan       text NOT NULL REFERENCES plans (name),
  currency   text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),      -- ISO 4217; every …Base amount is in it
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
  id           text COLLATE "C" PRIMARY KEY,                     -- a UUIDv7; names the key without being it
  account_id   text NOT NULL REFERENCES accounts (id),
  name         text NOT NULL,                                    -- 'BI tool'
  hash         bytea NOT NULL UNIQUE CHECK (length(hash) = 32),  -- SHA-256 of the whole key; the key itself is nowhere
  prefix       text NOT NULL,                                    -- 'trb_live_' and 4 characters, to recognise it by
  scopes       text[] NOT NULL,                                  -- spelled out: {read:clicks,read:reports}
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  expires_at   timestamptz(3),                                   -- null: never
  revoked_at   timestamptz(3),                                   -- null: in force
  last_used_at timestamptz(3)                                    -- to the minute
);

CREATE INDEX api_keys_by_account ON api_keys (account_id, created_at);
