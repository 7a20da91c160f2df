import type { Dialect } from '../database/database.ts'

export const postgresDialect: Dialect = {
  hasIndexes: true,
  lock: 'FOR UPDATE',
  commentQuery: `SELECT obj_description(to_regclass($1 || '.' || $2), 'pg_class') AS version`,
  dayText: (time) => `to_char(${time}, 'YYYY-MM-DD')`,
  timeText: (time) => `to_char(${time}, 'YYYY-MM-DD"T"HH24:MI:SS.MS')`,
  xorHash: (text) => `lpad(to_hex(bit_xor(('x' || left(md5(${text}), 15))::bit(60)::bigint)), 15, '0')`,
  shownText(text) {
    const start = `SELECT left(${text}, max(n)) FROM generate_series(55, 220) AS g(n) WHERE octet_length(left(${text}, n)) <= 220`
    const digest = `left(encode(sha256(convert_to(${text}, 'UTF8')), 'hex'), 32)`
    return `CASE WHEN octet_length(${text}) > 256 THEN (${start}) || '…' || ${digest} ELSE ${text} END`
  },
  ratioStatement: (schema) =>
    `CREATE OR REPLACE FUNCTION ${schema}.ratio(n numeric, d numeric) RETURNS numeric LANGUAGE sql IMMUTABLE
    AS $function$ SELECT round(n / nullif(d, 0), 6) $function$`,
  tableFunctionStatements: (schema, name, variants) =>
    variants.map(({ parameters, columns, refused, select }) => {
      const declared = parameters.map((one) => `${one.name} ${one.type}${one.default ? ` DEFAULT ${one.default}` : ''}`)
      const head = `CREATE OR REPLACE FUNCTION ${schema}.${name}(${declared.join(', ')}) RETURNS TABLE (${columns}) STABLE`
      if (!refused) return `${head} LANGUAGE sql AS $function$ ${select} $function$`
      return `${head} LANGUAGE plpgsql AS $function$
    BEGIN
      IF ${refused.condition} THEN RAISE EXCEPTION USING MESSAGE = ${refused.message}; END IF;
      RETURN QUERY ${select};
    END $function$`
    }),
}
