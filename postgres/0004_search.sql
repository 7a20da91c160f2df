-- Search in names: a text to look in with LIKE, lower-cased for ASCII alone, whatever the locale of the database is.
-- It finds more than it should where other letters are concerned; the program looks again with Unicode's rules.
-- The two letters beyond ASCII whose lower case is ASCII (KELVIN SIGN, I WITH DOT ABOVE) are replaced by hand.

CREATE FUNCTION search_text_of(words text[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN lower(translate(array_to_string(words, E'\n'), U&'\212A\0130', 'ki') COLLATE "C");

ALTER TABLE campaigns
  ADD COLUMN search_text text GENERATED ALWAYS AS (search_text_of(ARRAY[id::text, name, status] || tags)) STORED;

ALTER TABLE offers
  ADD COLUMN search_text text GENERATED ALWAYS AS (search_text_of(ARRAY[name])) STORED;

-- Trigrams where the extension may be had; without it an account's rows are read one by one.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX campaigns_search ON campaigns USING gin (search_text gin_trgm_ops);
  CREATE INDEX offers_search    ON offers    USING gin (search_text gin_trgm_ops);
EXCEPTION
  WHEN undefined_file OR feature_not_supported OR insufficient_privilege THEN NULL;
END
$$;
