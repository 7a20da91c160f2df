const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']

/** @returns statements that create and fill the table of the names of countries, by their code of ISO 3166-1 alpha-2 */
export function countriesStatements(schema: string): string[] {
  const englishNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  const codes = letters.flatMap((first) => letters.map((second) => first + second))
  const rows = codes.flatMap((code) => {
    const name = englishNames.of(code)
    return name === undefined ? [] : [`('${code}', '${name.replaceAll("'", "''")}')`]
  })
  return [
    `CREATE TABLE IF NOT EXISTS ${schema}.countries (id text PRIMARY KEY, name text NOT NULL)`,
    `INSERT INTO ${schema}.countries (id, name) VALUES ${rows.join(', ')}
    ON CONFLICT (id) DO UPDATE SET name = excluded.name`,
  ]
}
