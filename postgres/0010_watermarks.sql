-- The moment of storing (`storedAt`) of clicks and conversions, and the `asOf` of reads by it. A clock may step back, and a
-- row stored before an `asOf` that was already returned would never be read. So no clock decides: every batch gets a moment
-- that is later than that of every batch of its account before it, and never earlier than this database's clock. `asOf` is
-- just behind the last one given, or the first of the batches that are not confirmed.

CREATE TABLE watermarks (
  account_id text NOT NULL REFERENCES accounts (id),
  resource   text NOT NULL CHECK (resource IN ('clicks', 'conversions')),
  stored_at  timestamptz(3) NOT NULL,                            -- of the latest batch
  PRIMARY KEY (account_id, resource)
);

-- Until now ClickHouse's clock decided, which may have been ahead of this one.
INSERT INTO watermarks
SELECT id, resource, clock_timestamp() + interval '1 minute'
FROM accounts, unnest(ARRAY['clicks', 'conversions']) AS resource;

ALTER TABLE import_batches ADD COLUMN stored_at timestamptz(3);  -- of its rows; set by the trigger
UPDATE import_batches SET stored_at = created_at - interval '1 minute';

-- The row of the watermark is locked until the batch is committed, so batches become visible in the order of their moments.
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
