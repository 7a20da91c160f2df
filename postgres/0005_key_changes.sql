-- Running servers keep keys in memory for some seconds. Those that can listen (not on the embedded engine, which delivers
-- nothing) are told what has changed before that: the hash of a key, or * for all of them.

CREATE FUNCTION tell_of_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tributary_keys', encode(OLD.hash, 'hex'));
  RETURN NULL;
END $$;

CREATE FUNCTION tell_of_all_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tributary_keys', '*');
  RETURN NULL;
END $$;

-- Not of last_used_at, which is written once a minute and changes nothing.
CREATE TRIGGER api_keys_tell AFTER UPDATE OF revoked_at, expires_at, scopes OR DELETE ON api_keys
  FOR EACH ROW EXECUTE FUNCTION tell_of_key();
CREATE TRIGGER accounts_tell AFTER UPDATE ON accounts
  FOR EACH STATEMENT EXECUTE FUNCTION tell_of_all_keys();
CREATE TRIGGER plans_tell AFTER UPDATE ON plans
  FOR EACH STATEMENT EXECUTE FUNCTION tell_of_all_keys();
