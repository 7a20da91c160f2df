-- A key can see a part of its account: rows that match filters, without some metrics and fields. Such a key has a prefix of its own:
-- programs before this version do not apply filters, and refuse the key as malformed.
--
-- readable from: 1.0.0
-- writable from: 1.2.0

ALTER TABLE api_keys
  -- {"filters": {"sub1": ["aff42"]}, "hidden": ["cost"]}; null: the key sees the whole account. It never changes.
  ADD COLUMN view jsonb,
  ADD COLUMN is_part boolean GENERATED ALWAYS AS (view IS NOT NULL) STORED,
  ADD CONSTRAINT api_keys_view_check CHECK (is_part = starts_with(prefix, 'trb_part_')),
  -- An earlier program would replace such a key by one that sees the whole account.
  ADD CONSTRAINT api_keys_id_is_part_key UNIQUE (id, is_part),
  ADD CONSTRAINT api_keys_replaced_by_is_part_fkey FOREIGN KEY (replaced_by, is_part) REFERENCES api_keys (id, is_part);
