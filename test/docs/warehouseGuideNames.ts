/** The guides about copies and language models, in the order of the documentation. */
export const warehouseGuides = [
  'Into PostgreSQL',
  'Into DuckDB and Parquet',
  'Into ClickHouse',
  'From any connector',
  'With a language model',
] as const
export type WarehouseGuide = (typeof warehouseGuides)[number]
