import type { TestStores } from './stores.ts'

/** Queries a Parquet file with ClickHouse. @param statement `DESCRIBE`, or a SELECT without its FROM clause */
export async function queryParquet<Row>(
  { clickhouse }: Pick<TestStores, 'clickhouse'>,
  file: Buffer,
  statement: string,
): Promise<Row[]> {
  const [verb, from] = statement === 'DESCRIBE' ? [statement, ''] : [statement, 'FROM']
  const result = await clickhouse.client.query({
    query: `${verb} ${from} format(Parquet, unhex({file:String}))`,
    query_params: { file: file.toString('hex') },
    format: 'JSONEachRow',
    clickhouse_settings: { date_time_output_format: 'iso', output_format_json_quote_64bit_integers: 0 },
  })
  return await result.json<Row>()
}
