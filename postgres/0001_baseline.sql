-- Baseline of the Postgres schema. Until version 1.0 this file is edited in place, and a store of an earlier baseline is
-- refused; from then on each change is a new file. `schema.sql` shows the tables that result from all files.
--
-- Postgres holds what is small and edited, and what makes writing to ClickHouse exact. No table grows with traffic.

-- Subscription plans, accounts and their API keys.
CREATE TABLE plans (
  name                         text PRIMARY KEY,                 -- 'pro'
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
  plan       text NOT NULL REFERENCES plans (name),
  currency   text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),      -- ISO 4217; every …Base amount is in it
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  import_of  text,                                               -- SHA-256 of the account.json that is being imported, or null
  retained_click_months smallint CHECK (retained_click_months >= 0), -- as in plans; null: those of the plan
  retained_event_months smallint CHECK (retained_event_months >= 0)
);

CREATE TABLE api_keys (
  id           text COLLATE "C" PRIMARY KEY,                     -- a UUIDv7; public identifier of the key
  account_id   text NOT NULL REFERENCES accounts (id),
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

-- Folds values for search as the program folds a query (src/api/search/caseFolding.ts), with an upper-case X between values.
-- A folded query contains no upper-case letter, so it never matches across two values. The locale of the database has no
-- effect. A row costs 8 microseconds, and 0.4 more per character of a value that is not ASCII. The literal lists every letter
-- beyond ASCII with a lower case, of Unicode 17, and final sigma; a test compares it with the program.
CREATE FUNCTION search_text_of(words text[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
  SELECT string_agg(
    CASE WHEN octet_length(word) = char_length(word) THEN lower(word COLLATE "C") ELSE (
      SELECT string_agg(coalesce(lower_cases ->> letter, letter), '' ORDER BY number)
      FROM unnest(string_to_array(lower(word COLLATE "C"), NULL)) WITH ORDINALITY AS letters (letter, number)
    ) END, 'X' ORDER BY ordinal)
  FROM unnest(words) WITH ORDINALITY AS listed (word, ordinal), (SELECT jsonb '{
"À":"à", "Á":"á", "Â":"â", "Ã":"ã", "Ä":"ä", "Å":"å", "Æ":"æ", "Ç":"ç", "È":"è", "É":"é", "Ê":"ê", "Ë":"ë",
"Ì":"ì", "Í":"í", "Î":"î", "Ï":"ï", "Ð":"ð", "Ñ":"ñ", "Ò":"ò", "Ó":"ó", "Ô":"ô", "Õ":"õ", "Ö":"ö", "Ø":"ø",
"Ù":"ù", "Ú":"ú", "Û":"û", "Ü":"ü", "Ý":"ý", "Þ":"þ", "Ā":"ā", "Ă":"ă", "Ą":"ą", "Ć":"ć", "Ĉ":"ĉ", "Ċ":"ċ",
"Č":"č", "Ď":"ď", "Đ":"đ", "Ē":"ē", "Ĕ":"ĕ", "Ė":"ė", "Ę":"ę", "Ě":"ě", "Ĝ":"ĝ", "Ğ":"ğ", "Ġ":"ġ", "Ģ":"ģ",
"Ĥ":"ĥ", "Ħ":"ħ", "Ĩ":"ĩ", "Ī":"ī", "Ĭ":"ĭ", "Į":"į", "\u0130":"i\u0307", "Ĳ":"ĳ", "Ĵ":"ĵ", "Ķ":"ķ", "Ĺ":"ĺ",
"Ļ":"ļ", "Ľ":"ľ", "Ŀ":"ŀ", "Ł":"ł", "Ń":"ń", "Ņ":"ņ", "Ň":"ň", "Ŋ":"ŋ", "Ō":"ō", "Ŏ":"ŏ", "Ő":"ő", "Œ":"œ",
"Ŕ":"ŕ", "Ŗ":"ŗ", "Ř":"ř", "Ś":"ś", "Ŝ":"ŝ", "Ş":"ş", "Š":"š", "Ţ":"ţ", "Ť":"ť", "Ŧ":"ŧ", "Ũ":"ũ", "Ū":"ū",
"Ŭ":"ŭ", "Ů":"ů", "Ű":"ű", "Ų":"ų", "Ŵ":"ŵ", "Ŷ":"ŷ", "Ÿ":"ÿ", "Ź":"ź", "Ż":"ż", "Ž":"ž", "Ɓ":"ɓ", "Ƃ":"ƃ",
"Ƅ":"ƅ", "Ɔ":"ɔ", "Ƈ":"ƈ", "Ɖ":"ɖ", "Ɗ":"ɗ", "Ƌ":"ƌ", "Ǝ":"ǝ", "Ə":"ə", "Ɛ":"ɛ", "Ƒ":"ƒ", "Ɠ":"ɠ", "Ɣ":"ɣ",
"Ɩ":"ɩ", "Ɨ":"ɨ", "Ƙ":"ƙ", "Ɯ":"ɯ", "Ɲ":"ɲ", "Ɵ":"ɵ", "Ơ":"ơ", "Ƣ":"ƣ", "Ƥ":"ƥ", "Ʀ":"ʀ", "Ƨ":"ƨ", "Ʃ":"ʃ",
"Ƭ":"ƭ", "Ʈ":"ʈ", "Ư":"ư", "Ʊ":"ʊ", "Ʋ":"ʋ", "Ƴ":"ƴ", "Ƶ":"ƶ", "Ʒ":"ʒ", "Ƹ":"ƹ", "Ƽ":"ƽ", "Ǆ":"ǆ", "ǅ":"ǆ",
"Ǉ":"ǉ", "ǈ":"ǉ", "Ǌ":"ǌ", "ǋ":"ǌ", "Ǎ":"ǎ", "Ǐ":"ǐ", "Ǒ":"ǒ", "Ǔ":"ǔ", "Ǖ":"ǖ", "Ǘ":"ǘ", "Ǚ":"ǚ", "Ǜ":"ǜ",
"Ǟ":"ǟ", "Ǡ":"ǡ", "Ǣ":"ǣ", "Ǥ":"ǥ", "Ǧ":"ǧ", "Ǩ":"ǩ", "Ǫ":"ǫ", "Ǭ":"ǭ", "Ǯ":"ǯ", "Ǳ":"ǳ", "ǲ":"ǳ", "Ǵ":"ǵ",
"Ƕ":"ƕ", "Ƿ":"ƿ", "Ǹ":"ǹ", "Ǻ":"ǻ", "Ǽ":"ǽ", "Ǿ":"ǿ", "Ȁ":"ȁ", "Ȃ":"ȃ", "Ȅ":"ȅ", "Ȇ":"ȇ", "Ȉ":"ȉ", "Ȋ":"ȋ",
"Ȍ":"ȍ", "Ȏ":"ȏ", "Ȑ":"ȑ", "Ȓ":"ȓ", "Ȕ":"ȕ", "Ȗ":"ȗ", "Ș":"ș", "Ț":"ț", "Ȝ":"ȝ", "Ȟ":"ȟ", "Ƞ":"ƞ", "Ȣ":"ȣ",
"Ȥ":"ȥ", "Ȧ":"ȧ", "Ȩ":"ȩ", "Ȫ":"ȫ", "Ȭ":"ȭ", "Ȯ":"ȯ", "Ȱ":"ȱ", "Ȳ":"ȳ", "Ⱥ":"ⱥ", "Ȼ":"ȼ", "Ƚ":"ƚ", "Ⱦ":"ⱦ",
"Ɂ":"ɂ", "Ƀ":"ƀ", "Ʉ":"ʉ", "Ʌ":"ʌ", "Ɇ":"ɇ", "Ɉ":"ɉ", "Ɋ":"ɋ", "Ɍ":"ɍ", "Ɏ":"ɏ", "Ͱ":"ͱ", "Ͳ":"ͳ", "Ͷ":"ͷ",
"Ϳ":"ϳ", "Ά":"ά", "Έ":"έ", "Ή":"ή", "Ί":"ί", "Ό":"ό", "Ύ":"ύ", "Ώ":"ώ", "Α":"α", "Β":"β", "Γ":"γ", "Δ":"δ",
"Ε":"ε", "Ζ":"ζ", "Η":"η", "Θ":"θ", "Ι":"ι", "Κ":"κ", "Λ":"λ", "Μ":"μ", "Ν":"ν", "Ξ":"ξ", "Ο":"ο", "Π":"π",
"Ρ":"ρ", "Σ":"σ", "Τ":"τ", "Υ":"υ", "Φ":"φ", "Χ":"χ", "Ψ":"ψ", "Ω":"ω", "Ϊ":"ϊ", "Ϋ":"ϋ", "ς":"σ", "Ϗ":"ϗ",
"Ϙ":"ϙ", "Ϛ":"ϛ", "Ϝ":"ϝ", "Ϟ":"ϟ", "Ϡ":"ϡ", "Ϣ":"ϣ", "Ϥ":"ϥ", "Ϧ":"ϧ", "Ϩ":"ϩ", "Ϫ":"ϫ", "Ϭ":"ϭ", "Ϯ":"ϯ",
"ϴ":"θ", "Ϸ":"ϸ", "Ϲ":"ϲ", "Ϻ":"ϻ", "Ͻ":"ͻ", "Ͼ":"ͼ", "Ͽ":"ͽ", "Ѐ":"ѐ", "Ё":"ё", "Ђ":"ђ", "Ѓ":"ѓ", "Є":"є",
"Ѕ":"ѕ", "І":"і", "Ї":"ї", "Ј":"ј", "Љ":"љ", "Њ":"њ", "Ћ":"ћ", "Ќ":"ќ", "Ѝ":"ѝ", "Ў":"ў", "Џ":"џ", "А":"а",
"Б":"б", "В":"в", "Г":"г", "Д":"д", "Е":"е", "Ж":"ж", "З":"з", "И":"и", "Й":"й", "К":"к", "Л":"л", "М":"м",
"Н":"н", "О":"о", "П":"п", "Р":"р", "С":"с", "Т":"т", "У":"у", "Ф":"ф", "Х":"х", "Ц":"ц", "Ч":"ч", "Ш":"ш",
"Щ":"щ", "Ъ":"ъ", "Ы":"ы", "Ь":"ь", "Э":"э", "Ю":"ю", "Я":"я", "Ѡ":"ѡ", "Ѣ":"ѣ", "Ѥ":"ѥ", "Ѧ":"ѧ", "Ѩ":"ѩ",
"Ѫ":"ѫ", "Ѭ":"ѭ", "Ѯ":"ѯ", "Ѱ":"ѱ", "Ѳ":"ѳ", "Ѵ":"ѵ", "Ѷ":"ѷ", "Ѹ":"ѹ", "Ѻ":"ѻ", "Ѽ":"ѽ", "Ѿ":"ѿ", "Ҁ":"ҁ",
"Ҋ":"ҋ", "Ҍ":"ҍ", "Ҏ":"ҏ", "Ґ":"ґ", "Ғ":"ғ", "Ҕ":"ҕ", "Җ":"җ", "Ҙ":"ҙ", "Қ":"қ", "Ҝ":"ҝ", "Ҟ":"ҟ", "Ҡ":"ҡ",
"Ң":"ң", "Ҥ":"ҥ", "Ҧ":"ҧ", "Ҩ":"ҩ", "Ҫ":"ҫ", "Ҭ":"ҭ", "Ү":"ү", "Ұ":"ұ", "Ҳ":"ҳ", "Ҵ":"ҵ", "Ҷ":"ҷ", "Ҹ":"ҹ",
"Һ":"һ", "Ҽ":"ҽ", "Ҿ":"ҿ", "Ӏ":"ӏ", "Ӂ":"ӂ", "Ӄ":"ӄ", "Ӆ":"ӆ", "Ӈ":"ӈ", "Ӊ":"ӊ", "Ӌ":"ӌ", "Ӎ":"ӎ", "Ӑ":"ӑ",
"Ӓ":"ӓ", "Ӕ":"ӕ", "Ӗ":"ӗ", "Ә":"ә", "Ӛ":"ӛ", "Ӝ":"ӝ", "Ӟ":"ӟ", "Ӡ":"ӡ", "Ӣ":"ӣ", "Ӥ":"ӥ", "Ӧ":"ӧ", "Ө":"ө",
"Ӫ":"ӫ", "Ӭ":"ӭ", "Ӯ":"ӯ", "Ӱ":"ӱ", "Ӳ":"ӳ", "Ӵ":"ӵ", "Ӷ":"ӷ", "Ӹ":"ӹ", "Ӻ":"ӻ", "Ӽ":"ӽ", "Ӿ":"ӿ", "Ԁ":"ԁ",
"Ԃ":"ԃ", "Ԅ":"ԅ", "Ԇ":"ԇ", "Ԉ":"ԉ", "Ԋ":"ԋ", "Ԍ":"ԍ", "Ԏ":"ԏ", "Ԑ":"ԑ", "Ԓ":"ԓ", "Ԕ":"ԕ", "Ԗ":"ԗ", "Ԙ":"ԙ",
"Ԛ":"ԛ", "Ԝ":"ԝ", "Ԟ":"ԟ", "Ԡ":"ԡ", "Ԣ":"ԣ", "Ԥ":"ԥ", "Ԧ":"ԧ", "Ԩ":"ԩ", "Ԫ":"ԫ", "Ԭ":"ԭ", "Ԯ":"ԯ", "Ա":"ա",
"Բ":"բ", "Գ":"գ", "Դ":"դ", "Ե":"ե", "Զ":"զ", "Է":"է", "Ը":"ը", "Թ":"թ", "Ժ":"ժ", "Ի":"ի", "Լ":"լ", "Խ":"խ",
"Ծ":"ծ", "Կ":"կ", "Հ":"հ", "Ձ":"ձ", "Ղ":"ղ", "Ճ":"ճ", "Մ":"մ", "Յ":"յ", "Ն":"ն", "Շ":"շ", "Ո":"ո", "Չ":"չ",
"Պ":"պ", "Ջ":"ջ", "Ռ":"ռ", "Ս":"ս", "Վ":"վ", "Տ":"տ", "Ր":"ր", "Ց":"ց", "Ւ":"ւ", "Փ":"փ", "Ք":"ք", "Օ":"օ",
"Ֆ":"ֆ", "Ⴀ":"ⴀ", "Ⴁ":"ⴁ", "Ⴂ":"ⴂ", "Ⴃ":"ⴃ", "Ⴄ":"ⴄ", "Ⴅ":"ⴅ", "Ⴆ":"ⴆ", "Ⴇ":"ⴇ", "Ⴈ":"ⴈ", "Ⴉ":"ⴉ", "Ⴊ":"ⴊ",
"Ⴋ":"ⴋ", "Ⴌ":"ⴌ", "Ⴍ":"ⴍ", "Ⴎ":"ⴎ", "Ⴏ":"ⴏ", "Ⴐ":"ⴐ", "Ⴑ":"ⴑ", "Ⴒ":"ⴒ", "Ⴓ":"ⴓ", "Ⴔ":"ⴔ", "Ⴕ":"ⴕ", "Ⴖ":"ⴖ",
"Ⴗ":"ⴗ", "Ⴘ":"ⴘ", "Ⴙ":"ⴙ", "Ⴚ":"ⴚ", "Ⴛ":"ⴛ", "Ⴜ":"ⴜ", "Ⴝ":"ⴝ", "Ⴞ":"ⴞ", "Ⴟ":"ⴟ", "Ⴠ":"ⴠ", "Ⴡ":"ⴡ", "Ⴢ":"ⴢ",
"Ⴣ":"ⴣ", "Ⴤ":"ⴤ", "Ⴥ":"ⴥ", "Ⴧ":"ⴧ", "Ⴭ":"ⴭ", "Ꭰ":"ꭰ", "Ꭱ":"ꭱ", "Ꭲ":"ꭲ", "Ꭳ":"ꭳ", "Ꭴ":"ꭴ", "Ꭵ":"ꭵ", "Ꭶ":"ꭶ",
"Ꭷ":"ꭷ", "Ꭸ":"ꭸ", "Ꭹ":"ꭹ", "Ꭺ":"ꭺ", "Ꭻ":"ꭻ", "Ꭼ":"ꭼ", "Ꭽ":"ꭽ", "Ꭾ":"ꭾ", "Ꭿ":"ꭿ", "Ꮀ":"ꮀ", "Ꮁ":"ꮁ", "Ꮂ":"ꮂ",
"Ꮃ":"ꮃ", "Ꮄ":"ꮄ", "Ꮅ":"ꮅ", "Ꮆ":"ꮆ", "Ꮇ":"ꮇ", "Ꮈ":"ꮈ", "Ꮉ":"ꮉ", "Ꮊ":"ꮊ", "Ꮋ":"ꮋ", "Ꮌ":"ꮌ", "Ꮍ":"ꮍ", "Ꮎ":"ꮎ",
"Ꮏ":"ꮏ", "Ꮐ":"ꮐ", "Ꮑ":"ꮑ", "Ꮒ":"ꮒ", "Ꮓ":"ꮓ", "Ꮔ":"ꮔ", "Ꮕ":"ꮕ", "Ꮖ":"ꮖ", "Ꮗ":"ꮗ", "Ꮘ":"ꮘ", "Ꮙ":"ꮙ", "Ꮚ":"ꮚ",
"Ꮛ":"ꮛ", "Ꮜ":"ꮜ", "Ꮝ":"ꮝ", "Ꮞ":"ꮞ", "Ꮟ":"ꮟ", "Ꮠ":"ꮠ", "Ꮡ":"ꮡ", "Ꮢ":"ꮢ", "Ꮣ":"ꮣ", "Ꮤ":"ꮤ", "Ꮥ":"ꮥ", "Ꮦ":"ꮦ",
"Ꮧ":"ꮧ", "Ꮨ":"ꮨ", "Ꮩ":"ꮩ", "Ꮪ":"ꮪ", "Ꮫ":"ꮫ", "Ꮬ":"ꮬ", "Ꮭ":"ꮭ", "Ꮮ":"ꮮ", "Ꮯ":"ꮯ", "Ꮰ":"ꮰ", "Ꮱ":"ꮱ", "Ꮲ":"ꮲ",
"Ꮳ":"ꮳ", "Ꮴ":"ꮴ", "Ꮵ":"ꮵ", "Ꮶ":"ꮶ", "Ꮷ":"ꮷ", "Ꮸ":"ꮸ", "Ꮹ":"ꮹ", "Ꮺ":"ꮺ", "Ꮻ":"ꮻ", "Ꮼ":"ꮼ", "Ꮽ":"ꮽ", "Ꮾ":"ꮾ",
"Ꮿ":"ꮿ", "Ᏸ":"ᏸ", "Ᏹ":"ᏹ", "Ᏺ":"ᏺ", "Ᏻ":"ᏻ", "Ᏼ":"ᏼ", "Ᏽ":"ᏽ", "Ᲊ":"ᲊ", "Ა":"ა", "Ბ":"ბ", "Გ":"გ", "Დ":"დ",
"Ე":"ე", "Ვ":"ვ", "Ზ":"ზ", "Თ":"თ", "Ი":"ი", "Კ":"კ", "Ლ":"ლ", "Მ":"მ", "Ნ":"ნ", "Ო":"ო", "Პ":"პ", "Ჟ":"ჟ",
"Რ":"რ", "Ს":"ს", "Ტ":"ტ", "Უ":"უ", "Ფ":"ფ", "Ქ":"ქ", "Ღ":"ღ", "Ყ":"ყ", "Შ":"შ", "Ჩ":"ჩ", "Ც":"ც", "Ძ":"ძ",
"Წ":"წ", "Ჭ":"ჭ", "Ხ":"ხ", "Ჯ":"ჯ", "Ჰ":"ჰ", "Ჱ":"ჱ", "Ჲ":"ჲ", "Ჳ":"ჳ", "Ჴ":"ჴ", "Ჵ":"ჵ", "Ჶ":"ჶ", "Ჷ":"ჷ",
"Ჸ":"ჸ", "Ჹ":"ჹ", "Ჺ":"ჺ", "Ჽ":"ჽ", "Ჾ":"ჾ", "Ჿ":"ჿ", "Ḁ":"ḁ", "Ḃ":"ḃ", "Ḅ":"ḅ", "Ḇ":"ḇ", "Ḉ":"ḉ", "Ḋ":"ḋ",
"Ḍ":"ḍ", "Ḏ":"ḏ", "Ḑ":"ḑ", "Ḓ":"ḓ", "Ḕ":"ḕ", "Ḗ":"ḗ", "Ḙ":"ḙ", "Ḛ":"ḛ", "Ḝ":"ḝ", "Ḟ":"ḟ", "Ḡ":"ḡ", "Ḣ":"ḣ",
"Ḥ":"ḥ", "Ḧ":"ḧ", "Ḩ":"ḩ", "Ḫ":"ḫ", "Ḭ":"ḭ", "Ḯ":"ḯ", "Ḱ":"ḱ", "Ḳ":"ḳ", "Ḵ":"ḵ", "Ḷ":"ḷ", "Ḹ":"ḹ", "Ḻ":"ḻ",
"Ḽ":"ḽ", "Ḿ":"ḿ", "Ṁ":"ṁ", "Ṃ":"ṃ", "Ṅ":"ṅ", "Ṇ":"ṇ", "Ṉ":"ṉ", "Ṋ":"ṋ", "Ṍ":"ṍ", "Ṏ":"ṏ", "Ṑ":"ṑ", "Ṓ":"ṓ",
"Ṕ":"ṕ", "Ṗ":"ṗ", "Ṙ":"ṙ", "Ṛ":"ṛ", "Ṝ":"ṝ", "Ṟ":"ṟ", "Ṡ":"ṡ", "Ṣ":"ṣ", "Ṥ":"ṥ", "Ṧ":"ṧ", "Ṩ":"ṩ", "Ṫ":"ṫ",
"Ṭ":"ṭ", "Ṯ":"ṯ", "Ṱ":"ṱ", "Ṳ":"ṳ", "Ṵ":"ṵ", "Ṷ":"ṷ", "Ṹ":"ṹ", "Ṻ":"ṻ", "Ṽ":"ṽ", "Ṿ":"ṿ", "Ẁ":"ẁ", "Ẃ":"ẃ",
"Ẅ":"ẅ", "Ẇ":"ẇ", "Ẉ":"ẉ", "Ẋ":"ẋ", "Ẍ":"ẍ", "Ẏ":"ẏ", "Ẑ":"ẑ", "Ẓ":"ẓ", "Ẕ":"ẕ", "ẞ":"ß", "Ạ":"ạ", "Ả":"ả",
"Ấ":"ấ", "Ầ":"ầ", "Ẩ":"ẩ", "Ẫ":"ẫ", "Ậ":"ậ", "Ắ":"ắ", "Ằ":"ằ", "Ẳ":"ẳ", "Ẵ":"ẵ", "Ặ":"ặ", "Ẹ":"ẹ", "Ẻ":"ẻ",
"Ẽ":"ẽ", "Ế":"ế", "Ề":"ề", "Ể":"ể", "Ễ":"ễ", "Ệ":"ệ", "Ỉ":"ỉ", "Ị":"ị", "Ọ":"ọ", "Ỏ":"ỏ", "Ố":"ố", "Ồ":"ồ",
"Ổ":"ổ", "Ỗ":"ỗ", "Ộ":"ộ", "Ớ":"ớ", "Ờ":"ờ", "Ở":"ở", "Ỡ":"ỡ", "Ợ":"ợ", "Ụ":"ụ", "Ủ":"ủ", "Ứ":"ứ", "Ừ":"ừ",
"Ử":"ử", "Ữ":"ữ", "Ự":"ự", "Ỳ":"ỳ", "Ỵ":"ỵ", "Ỷ":"ỷ", "Ỹ":"ỹ", "Ỻ":"ỻ", "Ỽ":"ỽ", "Ỿ":"ỿ", "Ἀ":"ἀ", "Ἁ":"ἁ",
"Ἂ":"ἂ", "Ἃ":"ἃ", "Ἄ":"ἄ", "Ἅ":"ἅ", "Ἆ":"ἆ", "Ἇ":"ἇ", "Ἐ":"ἐ", "Ἑ":"ἑ", "Ἒ":"ἒ", "Ἓ":"ἓ", "Ἔ":"ἔ", "Ἕ":"ἕ",
"Ἠ":"ἠ", "Ἡ":"ἡ", "Ἢ":"ἢ", "Ἣ":"ἣ", "Ἤ":"ἤ", "Ἥ":"ἥ", "Ἦ":"ἦ", "Ἧ":"ἧ", "Ἰ":"ἰ", "Ἱ":"ἱ", "Ἲ":"ἲ", "Ἳ":"ἳ",
"Ἴ":"ἴ", "Ἵ":"ἵ", "Ἶ":"ἶ", "Ἷ":"ἷ", "Ὀ":"ὀ", "Ὁ":"ὁ", "Ὂ":"ὂ", "Ὃ":"ὃ", "Ὄ":"ὄ", "Ὅ":"ὅ", "Ὑ":"ὑ", "Ὓ":"ὓ",
"Ὕ":"ὕ", "Ὗ":"ὗ", "Ὠ":"ὠ", "Ὡ":"ὡ", "Ὢ":"ὢ", "Ὣ":"ὣ", "Ὤ":"ὤ", "Ὥ":"ὥ", "Ὦ":"ὦ", "Ὧ":"ὧ", "ᾈ":"ᾀ", "ᾉ":"ᾁ",
"ᾊ":"ᾂ", "ᾋ":"ᾃ", "ᾌ":"ᾄ", "ᾍ":"ᾅ", "ᾎ":"ᾆ", "ᾏ":"ᾇ", "ᾘ":"ᾐ", "ᾙ":"ᾑ", "ᾚ":"ᾒ", "ᾛ":"ᾓ", "ᾜ":"ᾔ", "ᾝ":"ᾕ",
"ᾞ":"ᾖ", "ᾟ":"ᾗ", "ᾨ":"ᾠ", "ᾩ":"ᾡ", "ᾪ":"ᾢ", "ᾫ":"ᾣ", "ᾬ":"ᾤ", "ᾭ":"ᾥ", "ᾮ":"ᾦ", "ᾯ":"ᾧ", "Ᾰ":"ᾰ", "Ᾱ":"ᾱ",
"Ὰ":"ὰ", "Ά":"ά", "ᾼ":"ᾳ", "Ὲ":"ὲ", "Έ":"έ", "Ὴ":"ὴ", "Ή":"ή", "ῌ":"ῃ", "Ῐ":"ῐ", "Ῑ":"ῑ", "Ὶ":"ὶ", "Ί":"ί",
"Ῠ":"ῠ", "Ῡ":"ῡ", "Ὺ":"ὺ", "Ύ":"ύ", "Ῥ":"ῥ", "Ὸ":"ὸ", "Ό":"ό", "Ὼ":"ὼ", "Ώ":"ώ", "ῼ":"ῳ", "Ω":"ω", "K":"k",
"Å":"å", "Ⅎ":"ⅎ", "Ⅰ":"ⅰ", "Ⅱ":"ⅱ", "Ⅲ":"ⅲ", "Ⅳ":"ⅳ", "Ⅴ":"ⅴ", "Ⅵ":"ⅵ", "Ⅶ":"ⅶ", "Ⅷ":"ⅷ", "Ⅸ":"ⅸ", "Ⅹ":"ⅹ",
"Ⅺ":"ⅺ", "Ⅻ":"ⅻ", "Ⅼ":"ⅼ", "Ⅽ":"ⅽ", "Ⅾ":"ⅾ", "Ⅿ":"ⅿ", "Ↄ":"ↄ", "Ⓐ":"ⓐ", "Ⓑ":"ⓑ", "Ⓒ":"ⓒ", "Ⓓ":"ⓓ", "Ⓔ":"ⓔ",
"Ⓕ":"ⓕ", "Ⓖ":"ⓖ", "Ⓗ":"ⓗ", "Ⓘ":"ⓘ", "Ⓙ":"ⓙ", "Ⓚ":"ⓚ", "Ⓛ":"ⓛ", "Ⓜ":"ⓜ", "Ⓝ":"ⓝ", "Ⓞ":"ⓞ", "Ⓟ":"ⓟ", "Ⓠ":"ⓠ",
"Ⓡ":"ⓡ", "Ⓢ":"ⓢ", "Ⓣ":"ⓣ", "Ⓤ":"ⓤ", "Ⓥ":"ⓥ", "Ⓦ":"ⓦ", "Ⓧ":"ⓧ", "Ⓨ":"ⓨ", "Ⓩ":"ⓩ", "Ⰰ":"ⰰ", "Ⰱ":"ⰱ", "Ⰲ":"ⰲ",
"Ⰳ":"ⰳ", "Ⰴ":"ⰴ", "Ⰵ":"ⰵ", "Ⰶ":"ⰶ", "Ⰷ":"ⰷ", "Ⰸ":"ⰸ", "Ⰹ":"ⰹ", "Ⰺ":"ⰺ", "Ⰻ":"ⰻ", "Ⰼ":"ⰼ", "Ⰽ":"ⰽ", "Ⰾ":"ⰾ",
"Ⰿ":"ⰿ", "Ⱀ":"ⱀ", "Ⱁ":"ⱁ", "Ⱂ":"ⱂ", "Ⱃ":"ⱃ", "Ⱄ":"ⱄ", "Ⱅ":"ⱅ", "Ⱆ":"ⱆ", "Ⱇ":"ⱇ", "Ⱈ":"ⱈ", "Ⱉ":"ⱉ", "Ⱊ":"ⱊ",
"Ⱋ":"ⱋ", "Ⱌ":"ⱌ", "Ⱍ":"ⱍ", "Ⱎ":"ⱎ", "Ⱏ":"ⱏ", "Ⱐ":"ⱐ", "Ⱑ":"ⱑ", "Ⱒ":"ⱒ", "Ⱓ":"ⱓ", "Ⱔ":"ⱔ", "Ⱕ":"ⱕ", "Ⱖ":"ⱖ",
"Ⱗ":"ⱗ", "Ⱘ":"ⱘ", "Ⱙ":"ⱙ", "Ⱚ":"ⱚ", "Ⱛ":"ⱛ", "Ⱜ":"ⱜ", "Ⱝ":"ⱝ", "Ⱞ":"ⱞ", "Ⱟ":"ⱟ", "Ⱡ":"ⱡ", "Ɫ":"ɫ", "Ᵽ":"ᵽ",
"Ɽ":"ɽ", "Ⱨ":"ⱨ", "Ⱪ":"ⱪ", "Ⱬ":"ⱬ", "Ɑ":"ɑ", "Ɱ":"ɱ", "Ɐ":"ɐ", "Ɒ":"ɒ", "Ⱳ":"ⱳ", "Ⱶ":"ⱶ", "Ȿ":"ȿ", "Ɀ":"ɀ",
"Ⲁ":"ⲁ", "Ⲃ":"ⲃ", "Ⲅ":"ⲅ", "Ⲇ":"ⲇ", "Ⲉ":"ⲉ", "Ⲋ":"ⲋ", "Ⲍ":"ⲍ", "Ⲏ":"ⲏ", "Ⲑ":"ⲑ", "Ⲓ":"ⲓ", "Ⲕ":"ⲕ", "Ⲗ":"ⲗ",
"Ⲙ":"ⲙ", "Ⲛ":"ⲛ", "Ⲝ":"ⲝ", "Ⲟ":"ⲟ", "Ⲡ":"ⲡ", "Ⲣ":"ⲣ", "Ⲥ":"ⲥ", "Ⲧ":"ⲧ", "Ⲩ":"ⲩ", "Ⲫ":"ⲫ", "Ⲭ":"ⲭ", "Ⲯ":"ⲯ",
"Ⲱ":"ⲱ", "Ⲳ":"ⲳ", "Ⲵ":"ⲵ", "Ⲷ":"ⲷ", "Ⲹ":"ⲹ", "Ⲻ":"ⲻ", "Ⲽ":"ⲽ", "Ⲿ":"ⲿ", "Ⳁ":"ⳁ", "Ⳃ":"ⳃ", "Ⳅ":"ⳅ", "Ⳇ":"ⳇ",
"Ⳉ":"ⳉ", "Ⳋ":"ⳋ", "Ⳍ":"ⳍ", "Ⳏ":"ⳏ", "Ⳑ":"ⳑ", "Ⳓ":"ⳓ", "Ⳕ":"ⳕ", "Ⳗ":"ⳗ", "Ⳙ":"ⳙ", "Ⳛ":"ⳛ", "Ⳝ":"ⳝ", "Ⳟ":"ⳟ",
"Ⳡ":"ⳡ", "Ⳣ":"ⳣ", "Ⳬ":"ⳬ", "Ⳮ":"ⳮ", "Ⳳ":"ⳳ", "Ꙁ":"ꙁ", "Ꙃ":"ꙃ", "Ꙅ":"ꙅ", "Ꙇ":"ꙇ", "Ꙉ":"ꙉ", "Ꙋ":"ꙋ", "Ꙍ":"ꙍ",
"Ꙏ":"ꙏ", "Ꙑ":"ꙑ", "Ꙓ":"ꙓ", "Ꙕ":"ꙕ", "Ꙗ":"ꙗ", "Ꙙ":"ꙙ", "Ꙛ":"ꙛ", "Ꙝ":"ꙝ", "Ꙟ":"ꙟ", "Ꙡ":"ꙡ", "Ꙣ":"ꙣ", "Ꙥ":"ꙥ",
"Ꙧ":"ꙧ", "Ꙩ":"ꙩ", "Ꙫ":"ꙫ", "Ꙭ":"ꙭ", "Ꚁ":"ꚁ", "Ꚃ":"ꚃ", "Ꚅ":"ꚅ", "Ꚇ":"ꚇ", "Ꚉ":"ꚉ", "Ꚋ":"ꚋ", "Ꚍ":"ꚍ", "Ꚏ":"ꚏ",
"Ꚑ":"ꚑ", "Ꚓ":"ꚓ", "Ꚕ":"ꚕ", "Ꚗ":"ꚗ", "Ꚙ":"ꚙ", "Ꚛ":"ꚛ", "Ꜣ":"ꜣ", "Ꜥ":"ꜥ", "Ꜧ":"ꜧ", "Ꜩ":"ꜩ", "Ꜫ":"ꜫ", "Ꜭ":"ꜭ",
"Ꜯ":"ꜯ", "Ꜳ":"ꜳ", "Ꜵ":"ꜵ", "Ꜷ":"ꜷ", "Ꜹ":"ꜹ", "Ꜻ":"ꜻ", "Ꜽ":"ꜽ", "Ꜿ":"ꜿ", "Ꝁ":"ꝁ", "Ꝃ":"ꝃ", "Ꝅ":"ꝅ", "Ꝇ":"ꝇ",
"Ꝉ":"ꝉ", "Ꝋ":"ꝋ", "Ꝍ":"ꝍ", "Ꝏ":"ꝏ", "Ꝑ":"ꝑ", "Ꝓ":"ꝓ", "Ꝕ":"ꝕ", "Ꝗ":"ꝗ", "Ꝙ":"ꝙ", "Ꝛ":"ꝛ", "Ꝝ":"ꝝ", "Ꝟ":"ꝟ",
"Ꝡ":"ꝡ", "Ꝣ":"ꝣ", "Ꝥ":"ꝥ", "Ꝧ":"ꝧ", "Ꝩ":"ꝩ", "Ꝫ":"ꝫ", "Ꝭ":"ꝭ", "Ꝯ":"ꝯ", "Ꝺ":"ꝺ", "Ꝼ":"ꝼ", "Ᵹ":"ᵹ", "Ꝿ":"ꝿ",
"Ꞁ":"ꞁ", "Ꞃ":"ꞃ", "Ꞅ":"ꞅ", "Ꞇ":"ꞇ", "Ꞌ":"ꞌ", "Ɥ":"ɥ", "Ꞑ":"ꞑ", "Ꞓ":"ꞓ", "Ꞗ":"ꞗ", "Ꞙ":"ꞙ", "Ꞛ":"ꞛ", "Ꞝ":"ꞝ",
"Ꞟ":"ꞟ", "Ꞡ":"ꞡ", "Ꞣ":"ꞣ", "Ꞥ":"ꞥ", "Ꞧ":"ꞧ", "Ꞩ":"ꞩ", "Ɦ":"ɦ", "Ɜ":"ɜ", "Ɡ":"ɡ", "Ɬ":"ɬ", "Ɪ":"ɪ", "Ʞ":"ʞ",
"Ʇ":"ʇ", "Ʝ":"ʝ", "Ꭓ":"ꭓ", "Ꞵ":"ꞵ", "Ꞷ":"ꞷ", "Ꞹ":"ꞹ", "Ꞻ":"ꞻ", "Ꞽ":"ꞽ", "Ꞿ":"ꞿ", "Ꟁ":"ꟁ", "Ꟃ":"ꟃ", "Ꞔ":"ꞔ",
"Ʂ":"ʂ", "Ᶎ":"ᶎ", "Ꟈ":"ꟈ", "Ꟊ":"ꟊ", "Ɤ":"ɤ", "Ꟍ":"ꟍ", "꟎":"꟏", "Ꟑ":"ꟑ", "꟒":"ꟓ", "꟔":"ꟕ", "Ꟗ":"ꟗ", "Ꟙ":"ꟙ",
"Ꟛ":"ꟛ", "Ƛ":"ƛ", "Ꟶ":"ꟶ", "Ａ":"ａ", "Ｂ":"ｂ", "Ｃ":"ｃ", "Ｄ":"ｄ", "Ｅ":"ｅ", "Ｆ":"ｆ", "Ｇ":"ｇ", "Ｈ":"ｈ", "Ｉ":"ｉ",
"Ｊ":"ｊ", "Ｋ":"ｋ", "Ｌ":"ｌ", "Ｍ":"ｍ", "Ｎ":"ｎ", "Ｏ":"ｏ", "Ｐ":"ｐ", "Ｑ":"ｑ", "Ｒ":"ｒ", "Ｓ":"ｓ", "Ｔ":"ｔ", "Ｕ":"ｕ",
"Ｖ":"ｖ", "Ｗ":"ｗ", "Ｘ":"ｘ", "Ｙ":"ｙ", "Ｚ":"ｚ", "\ud801\udc00":"\ud801\udc28", "\ud801\udc01":"\ud801\udc29",
"\ud801\udc02":"\ud801\udc2a", "\ud801\udc03":"\ud801\udc2b", "\ud801\udc04":"\ud801\udc2c",
"\ud801\udc05":"\ud801\udc2d", "\ud801\udc06":"\ud801\udc2e", "\ud801\udc07":"\ud801\udc2f",
"\ud801\udc08":"\ud801\udc30", "\ud801\udc09":"\ud801\udc31", "\ud801\udc0a":"\ud801\udc32",
"\ud801\udc0b":"\ud801\udc33", "\ud801\udc0c":"\ud801\udc34", "\ud801\udc0d":"\ud801\udc35",
"\ud801\udc0e":"\ud801\udc36", "\ud801\udc0f":"\ud801\udc37", "\ud801\udc10":"\ud801\udc38",
"\ud801\udc11":"\ud801\udc39", "\ud801\udc12":"\ud801\udc3a", "\ud801\udc13":"\ud801\udc3b",
"\ud801\udc14":"\ud801\udc3c", "\ud801\udc15":"\ud801\udc3d", "\ud801\udc16":"\ud801\udc3e",
"\ud801\udc17":"\ud801\udc3f", "\ud801\udc18":"\ud801\udc40", "\ud801\udc19":"\ud801\udc41",
"\ud801\udc1a":"\ud801\udc42", "\ud801\udc1b":"\ud801\udc43", "\ud801\udc1c":"\ud801\udc44",
"\ud801\udc1d":"\ud801\udc45", "\ud801\udc1e":"\ud801\udc46", "\ud801\udc1f":"\ud801\udc47",
"\ud801\udc20":"\ud801\udc48", "\ud801\udc21":"\ud801\udc49", "\ud801\udc22":"\ud801\udc4a",
"\ud801\udc23":"\ud801\udc4b", "\ud801\udc24":"\ud801\udc4c", "\ud801\udc25":"\ud801\udc4d",
"\ud801\udc26":"\ud801\udc4e", "\ud801\udc27":"\ud801\udc4f", "\ud801\udcb0":"\ud801\udcd8",
"\ud801\udcb1":"\ud801\udcd9", "\ud801\udcb2":"\ud801\udcda", "\ud801\udcb3":"\ud801\udcdb",
"\ud801\udcb4":"\ud801\udcdc", "\ud801\udcb5":"\ud801\udcdd", "\ud801\udcb6":"\ud801\udcde",
"\ud801\udcb7":"\ud801\udcdf", "\ud801\udcb8":"\ud801\udce0", "\ud801\udcb9":"\ud801\udce1",
"\ud801\udcba":"\ud801\udce2", "\ud801\udcbb":"\ud801\udce3", "\ud801\udcbc":"\ud801\udce4",
"\ud801\udcbd":"\ud801\udce5", "\ud801\udcbe":"\ud801\udce6", "\ud801\udcbf":"\ud801\udce7",
"\ud801\udcc0":"\ud801\udce8", "\ud801\udcc1":"\ud801\udce9", "\ud801\udcc2":"\ud801\udcea",
"\ud801\udcc3":"\ud801\udceb", "\ud801\udcc4":"\ud801\udcec", "\ud801\udcc5":"\ud801\udced",
"\ud801\udcc6":"\ud801\udcee", "\ud801\udcc7":"\ud801\udcef", "\ud801\udcc8":"\ud801\udcf0",
"\ud801\udcc9":"\ud801\udcf1", "\ud801\udcca":"\ud801\udcf2", "\ud801\udccb":"\ud801\udcf3",
"\ud801\udccc":"\ud801\udcf4", "\ud801\udccd":"\ud801\udcf5", "\ud801\udcce":"\ud801\udcf6",
"\ud801\udccf":"\ud801\udcf7", "\ud801\udcd0":"\ud801\udcf8", "\ud801\udcd1":"\ud801\udcf9",
"\ud801\udcd2":"\ud801\udcfa", "\ud801\udcd3":"\ud801\udcfb", "\ud801\udd70":"\ud801\udd97",
"\ud801\udd71":"\ud801\udd98", "\ud801\udd72":"\ud801\udd99", "\ud801\udd73":"\ud801\udd9a",
"\ud801\udd74":"\ud801\udd9b", "\ud801\udd75":"\ud801\udd9c", "\ud801\udd76":"\ud801\udd9d",
"\ud801\udd77":"\ud801\udd9e", "\ud801\udd78":"\ud801\udd9f", "\ud801\udd79":"\ud801\udda0",
"\ud801\udd7a":"\ud801\udda1", "\ud801\udd7c":"\ud801\udda3", "\ud801\udd7d":"\ud801\udda4",
"\ud801\udd7e":"\ud801\udda5", "\ud801\udd7f":"\ud801\udda6", "\ud801\udd80":"\ud801\udda7",
"\ud801\udd81":"\ud801\udda8", "\ud801\udd82":"\ud801\udda9", "\ud801\udd83":"\ud801\uddaa",
"\ud801\udd84":"\ud801\uddab", "\ud801\udd85":"\ud801\uddac", "\ud801\udd86":"\ud801\uddad",
"\ud801\udd87":"\ud801\uddae", "\ud801\udd88":"\ud801\uddaf", "\ud801\udd89":"\ud801\uddb0",
"\ud801\udd8a":"\ud801\uddb1", "\ud801\udd8c":"\ud801\uddb3", "\ud801\udd8d":"\ud801\uddb4",
"\ud801\udd8e":"\ud801\uddb5", "\ud801\udd8f":"\ud801\uddb6", "\ud801\udd90":"\ud801\uddb7",
"\ud801\udd91":"\ud801\uddb8", "\ud801\udd92":"\ud801\uddb9", "\ud801\udd94":"\ud801\uddbb",
"\ud801\udd95":"\ud801\uddbc", "\ud803\udc80":"\ud803\udcc0", "\ud803\udc81":"\ud803\udcc1",
"\ud803\udc82":"\ud803\udcc2", "\ud803\udc83":"\ud803\udcc3", "\ud803\udc84":"\ud803\udcc4",
"\ud803\udc85":"\ud803\udcc5", "\ud803\udc86":"\ud803\udcc6", "\ud803\udc87":"\ud803\udcc7",
"\ud803\udc88":"\ud803\udcc8", "\ud803\udc89":"\ud803\udcc9", "\ud803\udc8a":"\ud803\udcca",
"\ud803\udc8b":"\ud803\udccb", "\ud803\udc8c":"\ud803\udccc", "\ud803\udc8d":"\ud803\udccd",
"\ud803\udc8e":"\ud803\udcce", "\ud803\udc8f":"\ud803\udccf", "\ud803\udc90":"\ud803\udcd0",
"\ud803\udc91":"\ud803\udcd1", "\ud803\udc92":"\ud803\udcd2", "\ud803\udc93":"\ud803\udcd3",
"\ud803\udc94":"\ud803\udcd4", "\ud803\udc95":"\ud803\udcd5", "\ud803\udc96":"\ud803\udcd6",
"\ud803\udc97":"\ud803\udcd7", "\ud803\udc98":"\ud803\udcd8", "\ud803\udc99":"\ud803\udcd9",
"\ud803\udc9a":"\ud803\udcda", "\ud803\udc9b":"\ud803\udcdb", "\ud803\udc9c":"\ud803\udcdc",
"\ud803\udc9d":"\ud803\udcdd", "\ud803\udc9e":"\ud803\udcde", "\ud803\udc9f":"\ud803\udcdf",
"\ud803\udca0":"\ud803\udce0", "\ud803\udca1":"\ud803\udce1", "\ud803\udca2":"\ud803\udce2",
"\ud803\udca3":"\ud803\udce3", "\ud803\udca4":"\ud803\udce4", "\ud803\udca5":"\ud803\udce5",
"\ud803\udca6":"\ud803\udce6", "\ud803\udca7":"\ud803\udce7", "\ud803\udca8":"\ud803\udce8",
"\ud803\udca9":"\ud803\udce9", "\ud803\udcaa":"\ud803\udcea", "\ud803\udcab":"\ud803\udceb",
"\ud803\udcac":"\ud803\udcec", "\ud803\udcad":"\ud803\udced", "\ud803\udcae":"\ud803\udcee",
"\ud803\udcaf":"\ud803\udcef", "\ud803\udcb0":"\ud803\udcf0", "\ud803\udcb1":"\ud803\udcf1",
"\ud803\udcb2":"\ud803\udcf2", "\ud803\udd50":"\ud803\udd70", "\ud803\udd51":"\ud803\udd71",
"\ud803\udd52":"\ud803\udd72", "\ud803\udd53":"\ud803\udd73", "\ud803\udd54":"\ud803\udd74",
"\ud803\udd55":"\ud803\udd75", "\ud803\udd56":"\ud803\udd76", "\ud803\udd57":"\ud803\udd77",
"\ud803\udd58":"\ud803\udd78", "\ud803\udd59":"\ud803\udd79", "\ud803\udd5a":"\ud803\udd7a",
"\ud803\udd5b":"\ud803\udd7b", "\ud803\udd5c":"\ud803\udd7c", "\ud803\udd5d":"\ud803\udd7d",
"\ud803\udd5e":"\ud803\udd7e", "\ud803\udd5f":"\ud803\udd7f", "\ud803\udd60":"\ud803\udd80",
"\ud803\udd61":"\ud803\udd81", "\ud803\udd62":"\ud803\udd82", "\ud803\udd63":"\ud803\udd83",
"\ud803\udd64":"\ud803\udd84", "\ud803\udd65":"\ud803\udd85", "\ud806\udca0":"\ud806\udcc0",
"\ud806\udca1":"\ud806\udcc1", "\ud806\udca2":"\ud806\udcc2", "\ud806\udca3":"\ud806\udcc3",
"\ud806\udca4":"\ud806\udcc4", "\ud806\udca5":"\ud806\udcc5", "\ud806\udca6":"\ud806\udcc6",
"\ud806\udca7":"\ud806\udcc7", "\ud806\udca8":"\ud806\udcc8", "\ud806\udca9":"\ud806\udcc9",
"\ud806\udcaa":"\ud806\udcca", "\ud806\udcab":"\ud806\udccb", "\ud806\udcac":"\ud806\udccc",
"\ud806\udcad":"\ud806\udccd", "\ud806\udcae":"\ud806\udcce", "\ud806\udcaf":"\ud806\udccf",
"\ud806\udcb0":"\ud806\udcd0", "\ud806\udcb1":"\ud806\udcd1", "\ud806\udcb2":"\ud806\udcd2",
"\ud806\udcb3":"\ud806\udcd3", "\ud806\udcb4":"\ud806\udcd4", "\ud806\udcb5":"\ud806\udcd5",
"\ud806\udcb6":"\ud806\udcd6", "\ud806\udcb7":"\ud806\udcd7", "\ud806\udcb8":"\ud806\udcd8",
"\ud806\udcb9":"\ud806\udcd9", "\ud806\udcba":"\ud806\udcda", "\ud806\udcbb":"\ud806\udcdb",
"\ud806\udcbc":"\ud806\udcdc", "\ud806\udcbd":"\ud806\udcdd", "\ud806\udcbe":"\ud806\udcde",
"\ud806\udcbf":"\ud806\udcdf", "\ud81b\ude40":"\ud81b\ude60", "\ud81b\ude41":"\ud81b\ude61",
"\ud81b\ude42":"\ud81b\ude62", "\ud81b\ude43":"\ud81b\ude63", "\ud81b\ude44":"\ud81b\ude64",
"\ud81b\ude45":"\ud81b\ude65", "\ud81b\ude46":"\ud81b\ude66", "\ud81b\ude47":"\ud81b\ude67",
"\ud81b\ude48":"\ud81b\ude68", "\ud81b\ude49":"\ud81b\ude69", "\ud81b\ude4a":"\ud81b\ude6a",
"\ud81b\ude4b":"\ud81b\ude6b", "\ud81b\ude4c":"\ud81b\ude6c", "\ud81b\ude4d":"\ud81b\ude6d",
"\ud81b\ude4e":"\ud81b\ude6e", "\ud81b\ude4f":"\ud81b\ude6f", "\ud81b\ude50":"\ud81b\ude70",
"\ud81b\ude51":"\ud81b\ude71", "\ud81b\ude52":"\ud81b\ude72", "\ud81b\ude53":"\ud81b\ude73",
"\ud81b\ude54":"\ud81b\ude74", "\ud81b\ude55":"\ud81b\ude75", "\ud81b\ude56":"\ud81b\ude76",
"\ud81b\ude57":"\ud81b\ude77", "\ud81b\ude58":"\ud81b\ude78", "\ud81b\ude59":"\ud81b\ude79",
"\ud81b\ude5a":"\ud81b\ude7a", "\ud81b\ude5b":"\ud81b\ude7b", "\ud81b\ude5c":"\ud81b\ude7c",
"\ud81b\ude5d":"\ud81b\ude7d", "\ud81b\ude5e":"\ud81b\ude7e", "\ud81b\ude5f":"\ud81b\ude7f",
"\ud81b\udea0":"\ud81b\udebb", "\ud81b\udea1":"\ud81b\udebc", "\ud81b\udea2":"\ud81b\udebd",
"\ud81b\udea3":"\ud81b\udebe", "\ud81b\udea4":"\ud81b\udebf", "\ud81b\udea5":"\ud81b\udec0",
"\ud81b\udea6":"\ud81b\udec1", "\ud81b\udea7":"\ud81b\udec2", "\ud81b\udea8":"\ud81b\udec3",
"\ud81b\udea9":"\ud81b\udec4", "\ud81b\udeaa":"\ud81b\udec5", "\ud81b\udeab":"\ud81b\udec6",
"\ud81b\udeac":"\ud81b\udec7", "\ud81b\udead":"\ud81b\udec8", "\ud81b\udeae":"\ud81b\udec9",
"\ud81b\udeaf":"\ud81b\udeca", "\ud81b\udeb0":"\ud81b\udecb", "\ud81b\udeb1":"\ud81b\udecc",
"\ud81b\udeb2":"\ud81b\udecd", "\ud81b\udeb3":"\ud81b\udece", "\ud81b\udeb4":"\ud81b\udecf",
"\ud81b\udeb5":"\ud81b\uded0", "\ud81b\udeb6":"\ud81b\uded1", "\ud81b\udeb7":"\ud81b\uded2",
"\ud81b\udeb8":"\ud81b\uded3", "\ud83a\udd00":"\ud83a\udd22", "\ud83a\udd01":"\ud83a\udd23",
"\ud83a\udd02":"\ud83a\udd24", "\ud83a\udd03":"\ud83a\udd25", "\ud83a\udd04":"\ud83a\udd26",
"\ud83a\udd05":"\ud83a\udd27", "\ud83a\udd06":"\ud83a\udd28", "\ud83a\udd07":"\ud83a\udd29",
"\ud83a\udd08":"\ud83a\udd2a", "\ud83a\udd09":"\ud83a\udd2b", "\ud83a\udd0a":"\ud83a\udd2c",
"\ud83a\udd0b":"\ud83a\udd2d", "\ud83a\udd0c":"\ud83a\udd2e", "\ud83a\udd0d":"\ud83a\udd2f",
"\ud83a\udd0e":"\ud83a\udd30", "\ud83a\udd0f":"\ud83a\udd31", "\ud83a\udd10":"\ud83a\udd32",
"\ud83a\udd11":"\ud83a\udd33", "\ud83a\udd12":"\ud83a\udd34", "\ud83a\udd13":"\ud83a\udd35",
"\ud83a\udd14":"\ud83a\udd36", "\ud83a\udd15":"\ud83a\udd37", "\ud83a\udd16":"\ud83a\udd38",
"\ud83a\udd17":"\ud83a\udd39", "\ud83a\udd18":"\ud83a\udd3a", "\ud83a\udd19":"\ud83a\udd3b",
"\ud83a\udd1a":"\ud83a\udd3c", "\ud83a\udd1b":"\ud83a\udd3d", "\ud83a\udd1c":"\ud83a\udd3e",
"\ud83a\udd1d":"\ud83a\udd3f", "\ud83a\udd1e":"\ud83a\udd40", "\ud83a\udd1f":"\ud83a\udd41",
"\ud83a\udd20":"\ud83a\udd42", "\ud83a\udd21":"\ud83a\udd43"
}') AS known (lower_cases)
);

-- Metadata: names of the ids in clicks and conversions. Ids are the customer's, unique within the account. They sort
-- bytewise, as in ClickHouse and in cursors. A value in `search_text` is found by its position: 1 id, 2 name, 3 status,
-- from 4 on tags.
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
  search_text       text COLLATE "C" NOT NULL
    GENERATED ALWAYS AS (search_text_of(ARRAY[id::text, name, status] || tags)) STORED,
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
  search_text       text COLLATE "C" NOT NULL
    GENERATED ALWAYS AS (search_text_of(ARRAY[id::text, name, status] || tags)) STORED,
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
  name               text PRIMARY KEY,                           -- 'writer:acme', 'migrate'
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
  token      text PRIMARY KEY,                                   -- names the batch; each insert attempt has its own query id
  account_id text NOT NULL REFERENCES accounts (id),
  resource   text NOT NULL CHECK (resource IN ('clicks', 'conversions')),
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
  account_id text NOT NULL REFERENCES accounts (id),
  task       text NOT NULL,                                      -- 'attribute_late_clicks'
  PRIMARY KEY (account_id, task)
);

-- Clicks and events before a month that are removed, or being removed. The month never moves back: the sums still count the
-- removed clicks, so their rows must not be imported again.
CREATE TABLE retained_ranges (
  account_id    text NOT NULL REFERENCES accounts (id),
  resource      text NOT NULL CHECK (resource IN ('clicks', 'events')),
  retained_from date NOT NULL,                                   -- first day of a UTC month, of clicked_at or occurred_at
  recorded_at   timestamptz(3) NOT NULL DEFAULT clock_timestamp(), -- rows are removed once servers have read it
  is_complete   boolean NOT NULL DEFAULT false,                  -- false: earlier rows may be left
  PRIMARY KEY (account_id, resource)
);

-- Checksums of what remains of the clicks of a removed month, so that `verify` notices a change.
CREATE TABLE removed_months (
  account_id text NOT NULL REFERENCES accounts (id),
  table_name text NOT NULL,                                      -- 'sums_by_day', 'click_index'
  month      date NOT NULL,                                      -- its first day, UTC
  checksum   text NOT NULL,
  PRIMARY KEY (account_id, table_name, month)
);

-- Visitors and clicks that were erased, as keyed hashes: rows of them that are imported or restored are erased again.
CREATE TABLE erasures (
  account_id  text NOT NULL REFERENCES accounts (id),
  kind        text NOT NULL CHECK (kind IN ('visitor', 'click')), -- a click that was erased with its visitor is listed too
  key         uuid NOT NULL,                                     -- random; the same one for all erasures of the account
  hash        bytea NOT NULL CHECK (length(hash) = 32),          -- SHA-256 of key, kind and identifier, with spaces between
  erased_at   timestamptz(3) NOT NULL,                           -- rows with a later time are new data
  is_complete boolean NOT NULL DEFAULT false,                    -- false: rows may be left
  PRIMARY KEY (account_id, kind, key, hash)
);

CREATE INDEX erasures_incomplete ON erasures (account_id) WHERE NOT is_complete;

-- Accounts with pixel events that are being rewritten with a later `stored_at`. Clicks and conversions have the journal.
CREATE TABLE event_rewrites (
  account_id text PRIMARY KEY REFERENCES accounts (id),
  began_at   timestamptz(3) NOT NULL                             -- by ClickHouse's clock, before any new `stored_at`
);

-- Number of rows confirmed as stored, so that `verify` notices rows that ClickHouse has lost. A batch records what it adds;
-- the statement that clears the batch adds that here, so neither happens without the other.
CREATE TABLE stored_rows (
  account_id text NOT NULL REFERENCES accounts (id),
  resource   text NOT NULL CHECK (resource IN ('clicks', 'conversions')),
  month      date NOT NULL,                                      -- its first day, UTC, of clicked_at or converted_at
  rows       bigint NOT NULL,                                    -- distinct ids confirmed
  PRIMARY KEY (account_id, resource, month)
);

-- The time of storage (`storedAt`) of clicks and conversions, and the `asOf` of reads by it. A clock may be set back, and a row
-- stored before an `asOf` already returned would never be read. So each batch gets a time later than that of every earlier
-- batch of its account, and never before this database's clock. `asOf` is just after the last one assigned, or the first of
-- the batches that are not confirmed.
CREATE TABLE watermarks (
  account_id text NOT NULL REFERENCES accounts (id),
  resource   text NOT NULL CHECK (resource IN ('clicks', 'conversions')),
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
