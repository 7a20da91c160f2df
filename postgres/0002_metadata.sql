-- What the ids in clicks and conversions are called: campaigns, offers, landing pages, traffic sources.
-- Ids are the customer's own, unique within the account. They sort bytewise, as in ClickHouse and in cursors.

CREATE TABLE campaigns (
  account_id        text NOT NULL REFERENCES accounts (id),
  id                text COLLATE "C" NOT NULL,
  name              text NOT NULL,
  user_id           text NOT NULL,                               -- the owner; the account's id unless imported otherwise
  status            text NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
  traffic_source_id text,
  cost_model        text,                                        -- 'cpc'
  cost_value        numeric(18, 6),                              -- in `currency`
  currency          text,
  tags              text[] NOT NULL DEFAULT '{}',
  created_at        timestamptz(3) NOT NULL,
  updated_at        timestamptz(3) NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE TABLE offers (
  account_id        text NOT NULL REFERENCES accounts (id),
  id                text COLLATE "C" NOT NULL,
  name              text NOT NULL,
  status            text NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
  url               text,
  affiliate_network text,
  payout_type       text,                                        -- 'cpa'
  payout            numeric(18, 6),                              -- in `currency`
  currency          text,
  countries         text[] NOT NULL DEFAULT '{}',                -- ISO 3166-1 alpha-2
  tags              text[] NOT NULL DEFAULT '{}',
  created_at        timestamptz(3) NOT NULL,
  updated_at        timestamptz(3) NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE TABLE landing_pages (
  account_id text NOT NULL REFERENCES accounts (id),
  id         text COLLATE "C" NOT NULL,
  name       text NOT NULL,
  status     text NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
  url        text,
  tags       text[] NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE TABLE traffic_sources (
  account_id text NOT NULL REFERENCES accounts (id),
  id         text COLLATE "C" NOT NULL,
  name       text NOT NULL,
  status     text NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
  category   text,                                               -- 'social'
  cost_model text,
  currency   text,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (account_id, id)
);

-- Lists read newest first.
CREATE INDEX campaigns_newest       ON campaigns       (account_id, created_at DESC, id DESC);
CREATE INDEX offers_newest          ON offers          (account_id, created_at DESC, id DESC);
CREATE INDEX landing_pages_newest   ON landing_pages   (account_id, created_at DESC, id DESC);
CREATE INDEX traffic_sources_newest ON traffic_sources (account_id, created_at DESC, id DESC);
