-- Generated from a migrated store; see CONTRIBUTING.md. The reasons are in the migrations.

CREATE TABLE account_deletions (
  account_id text COLLATE "C" NOT NULL,
  began_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp(),
  completed_at timestamp(3) with time zone,
  CONSTRAINT account_deletions_pkey PRIMARY KEY (account_id)
);

CREATE TABLE account_tasks (
  account_id text COLLATE "C" NOT NULL,
  task text COLLATE "C" NOT NULL,
  CONSTRAINT account_tasks_pkey PRIMARY KEY (account_id, task),
  CONSTRAINT account_tasks_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
);

CREATE TABLE accounts (
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  plan text COLLATE "C" NOT NULL,
  currency text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  import_of text,
  retained_click_months smallint,
  retained_event_months smallint,
  CONSTRAINT accounts_pkey PRIMARY KEY (id),
  CONSTRAINT accounts_plan_fkey FOREIGN KEY (plan) REFERENCES plans(name),
  CONSTRAINT accounts_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  CONSTRAINT accounts_retained_click_months_check CHECK ((retained_click_months >= 0)),
  CONSTRAINT accounts_retained_event_months_check CHECK ((retained_event_months >= 0))
);

CREATE TABLE api_keys (
  id text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  hash bytea NOT NULL,
  prefix text NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  shown_at timestamp(3) with time zone DEFAULT now(),
  last_used_at timestamp(3) with time zone,
  replaced_by text COLLATE "C",
  view jsonb,
  is_part boolean GENERATED ALWAYS AS ((view IS NOT NULL)) STORED,
  CONSTRAINT api_keys_hash_key UNIQUE (hash),
  CONSTRAINT api_keys_id_is_part_key UNIQUE (id, is_part),
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  CONSTRAINT api_keys_replaced_by_fkey FOREIGN KEY (replaced_by) REFERENCES api_keys(id),
  CONSTRAINT api_keys_replaced_by_is_part_fkey FOREIGN KEY (replaced_by, is_part) REFERENCES api_keys(id, is_part),
  CONSTRAINT api_keys_hash_check CHECK ((length(hash) = 32)),
  CONSTRAINT api_keys_view_check CHECK ((is_part = starts_with(prefix, 'trb_part_'::text)))
);

CREATE TABLE audit_log (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp(),
  action text NOT NULL,
  actor text NOT NULL,
  account_id text COLLATE "C",
  details jsonb NOT NULL,
  CONSTRAINT audit_log_pkey PRIMARY KEY (id)
);

CREATE TABLE campaigns (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  user_id text NOT NULL,
  status text COLLATE "C" NOT NULL,
  traffic_source_id text,
  cost_model text,
  cost_value numeric(18,6),
  currency text,
  tags text[] NOT NULL DEFAULT '{}'::text[],
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  search_text text COLLATE "C" NOT NULL,
  CONSTRAINT campaigns_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT campaigns_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  CONSTRAINT campaigns_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'archived'::text])))
);

CREATE TABLE erasures (
  account_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  key uuid NOT NULL,
  hash bytea NOT NULL,
  erased_at timestamp(3) with time zone NOT NULL,
  is_complete boolean NOT NULL DEFAULT false,
  awaits_click boolean NOT NULL DEFAULT false,
  CONSTRAINT erasures_pkey PRIMARY KEY (account_id, kind, key, hash),
  CONSTRAINT erasures_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  CONSTRAINT erasures_hash_check CHECK ((length(hash) = 32)),
  CONSTRAINT erasures_kind_check CHECK ((kind = ANY (ARRAY['visitor'::text, 'click'::text])))
);

CREATE TABLE event_rewrites (
  account_id text COLLATE "C" NOT NULL,
  began_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT event_rewrites_pkey PRIMARY KEY (account_id),
  CONSTRAINT event_rewrites_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
);

CREATE TABLE import_batches (
  token text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  resource text COLLATE "C" NOT NULL,
  first_at timestamp(3) with time zone NOT NULL,
  last_at timestamp(3) with time zone NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  months date[] NOT NULL DEFAULT '{}'::date[],
  added integer[] NOT NULL DEFAULT '{}'::integer[],
  stored_at timestamp(3) with time zone,
  through_at timestamp(3) with time zone,
  ahead_at timestamp(3) with time zone,
  CONSTRAINT import_batches_pkey PRIMARY KEY (token),
  CONSTRAINT import_batches_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  CONSTRAINT import_batches_resource_check CHECK ((resource = ANY (ARRAY['clicks'::text, 'conversions'::text, 'costs'::text])))
);

CREATE TABLE landing_pages (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  status text COLLATE "C" NOT NULL,
  url text,
  tags text[] NOT NULL DEFAULT '{}'::text[],
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT landing_pages_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT landing_pages_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  CONSTRAINT landing_pages_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'archived'::text])))
);

CREATE TABLE leases (
  name text COLLATE "C" NOT NULL,
  owner text NOT NULL,
  fence bigint NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  statement_deadline timestamp(3) with time zone,
  process text COLLATE "C",
  unsettled text[] NOT NULL DEFAULT '{}'::text[],
  wanted_at timestamp with time zone,
  CONSTRAINT leases_pkey PRIMARY KEY (name)
);

CREATE TABLE offers (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  status text COLLATE "C" NOT NULL,
  url text,
  affiliate_network text,
  payout_type text,
  payout numeric(18,6),
  currency text,
  countries text[] NOT NULL DEFAULT '{}'::text[],
  tags text[] NOT NULL DEFAULT '{}'::text[],
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  search_text text COLLATE "C" NOT NULL,
  CONSTRAINT offers_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT offers_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  CONSTRAINT offers_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'archived'::text])))
);

CREATE TABLE plans (
  name text COLLATE "C" NOT NULL,
  has_api boolean NOT NULL,
  requests_per_minute integer,
  events_per_minute integer,
  identifier_events_per_minute integer,
  click_allowance bigint NOT NULL,
  retained_click_months smallint NOT NULL DEFAULT 0,
  retained_event_months smallint NOT NULL DEFAULT 0,
  CONSTRAINT plans_pkey PRIMARY KEY (name),
  CONSTRAINT plans_click_allowance_check CHECK ((click_allowance >= 0)),
  CONSTRAINT plans_events_per_minute_check CHECK ((events_per_minute > 0)),
  CONSTRAINT plans_identifier_events_per_minute_check CHECK ((identifier_events_per_minute > 0)),
  CONSTRAINT plans_requests_per_minute_check CHECK ((requests_per_minute > 0)),
  CONSTRAINT plans_retained_click_months_check CHECK ((retained_click_months >= 0)),
  CONSTRAINT plans_retained_event_months_check CHECK ((retained_event_months >= 0))
);

CREATE TABLE removed_months (
  account_id text COLLATE "C" NOT NULL,
  table_name text COLLATE "C" NOT NULL,
  month date NOT NULL,
  checksum text NOT NULL,
  CONSTRAINT removed_months_pkey PRIMARY KEY (account_id, table_name, month),
  CONSTRAINT removed_months_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
);

CREATE TABLE retained_ranges (
  account_id text COLLATE "C" NOT NULL,
  resource text COLLATE "C" NOT NULL,
  retained_from date NOT NULL,
  recorded_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp(),
  is_complete boolean NOT NULL DEFAULT false,
  CONSTRAINT retained_ranges_pkey PRIMARY KEY (account_id, resource),
  CONSTRAINT retained_ranges_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  CONSTRAINT retained_ranges_resource_check CHECK ((resource = ANY (ARRAY['clicks'::text, 'events'::text])))
);

CREATE TABLE stored_rows (
  account_id text COLLATE "C" NOT NULL,
  resource text COLLATE "C" NOT NULL,
  month date NOT NULL,
  rows bigint NOT NULL,
  CONSTRAINT stored_rows_pkey PRIMARY KEY (account_id, resource, month),
  CONSTRAINT stored_rows_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  CONSTRAINT stored_rows_resource_check CHECK ((resource = ANY (ARRAY['clicks'::text, 'conversions'::text, 'costs'::text])))
);

CREATE TABLE traffic_sources (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  status text COLLATE "C" NOT NULL,
  category text,
  cost_model text,
  currency text,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT traffic_sources_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT traffic_sources_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  CONSTRAINT traffic_sources_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'archived'::text])))
);

CREATE TABLE watermarks (
  account_id text COLLATE "C" NOT NULL,
  resource text COLLATE "C" NOT NULL,
  stored_at timestamp(3) with time zone NOT NULL,
  data_through timestamp(3) with time zone,
  ahead_at timestamp(3) with time zone,
  last_row_at timestamp(3) with time zone,
  CONSTRAINT watermarks_pkey PRIMARY KEY (account_id, resource),
  CONSTRAINT watermarks_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  CONSTRAINT watermarks_resource_check CHECK ((resource = ANY (ARRAY['clicks'::text, 'conversions'::text, 'costs'::text])))
);

CREATE INDEX api_keys_by_account ON public.api_keys USING btree (account_id, created_at);

CREATE INDEX audit_log_by_account ON public.audit_log USING btree (account_id, id);

CREATE INDEX campaigns_newest ON public.campaigns USING btree (account_id, created_at DESC, id DESC);

CREATE INDEX campaigns_newest_of_status ON public.campaigns USING btree (account_id, status, created_at DESC, id DESC);

CREATE INDEX erasures_incomplete ON public.erasures USING btree (account_id) WHERE (NOT is_complete);

CREATE INDEX import_batches_by_account ON public.import_batches USING btree (account_id);

CREATE INDEX landing_pages_newest ON public.landing_pages USING btree (account_id, created_at DESC, id DESC);

CREATE INDEX landing_pages_newest_of_status ON public.landing_pages USING btree (account_id, status, created_at DESC, id DESC);

CREATE INDEX offers_newest ON public.offers USING btree (account_id, created_at DESC, id DESC);

CREATE INDEX offers_newest_of_status ON public.offers USING btree (account_id, status, created_at DESC, id DESC);

CREATE INDEX traffic_sources_newest ON public.traffic_sources USING btree (account_id, created_at DESC, id DESC);

CREATE INDEX traffic_sources_newest_of_status ON public.traffic_sources USING btree (account_id, status, created_at DESC, id DESC);

CREATE OR REPLACE FUNCTION public.next_campaigns(of_account text, before timestamp with time zone, before_id text, rows_max integer)
 RETURNS TABLE(next_id text, next_at timestamp with time zone, next_name text, next_text text)
 LANGUAGE sql
 STABLE ROWS 500
 SET enable_sort TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_seqscan TO 'off'
BEGIN ATOMIC
 SELECT campaigns.id,
     campaigns.created_at,
     campaigns.name,
     campaigns.search_text
    FROM campaigns
   WHERE ((campaigns.account_id = next_campaigns.of_account) AND (ROW(campaigns.created_at, campaigns.id) < ROW(next_campaigns.before, next_campaigns.before_id)))
   ORDER BY campaigns.created_at DESC, campaigns.id DESC
  LIMIT next_campaigns.rows_max;
END;

CREATE OR REPLACE FUNCTION public.next_offers(of_account text, before timestamp with time zone, before_id text, rows_max integer)
 RETURNS TABLE(next_id text, next_at timestamp with time zone, next_name text, next_text text)
 LANGUAGE sql
 STABLE ROWS 500
 SET enable_sort TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_seqscan TO 'off'
BEGIN ATOMIC
 SELECT offers.id,
     offers.created_at,
     offers.name,
     offers.search_text
    FROM offers
   WHERE ((offers.account_id = next_offers.of_account) AND (ROW(offers.created_at, offers.id) < ROW(next_offers.before, next_offers.before_id)))
   ORDER BY offers.created_at DESC, offers.id DESC
  LIMIT next_offers.rows_max;
END;

CREATE OR REPLACE FUNCTION public.notify_all_keys()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_notify('tributary_keys', '*');
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.notify_key_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_notify('tributary_keys', encode(OLD.hash, 'hex'));
  RETURN NULL;
END $function$;

CREATE TRIGGER accounts_notify AFTER UPDATE ON public.accounts FOR EACH STATEMENT EXECUTE FUNCTION notify_all_keys();

CREATE TRIGGER api_keys_notify AFTER DELETE OR UPDATE OF revoked_at, expires_at, scopes ON public.api_keys FOR EACH ROW EXECUTE FUNCTION notify_key_change();

CREATE TRIGGER plans_notify AFTER UPDATE ON public.plans FOR EACH STATEMENT EXECUTE FUNCTION notify_all_keys();
