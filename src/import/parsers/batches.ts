/** Rows of one yield: a record that is given up may contain a million lines, and each line becomes a row. */
const batchRows = 1_000

/** @returns batches of at most `batchRows` rows; the last one may be empty */
export function* inBatches<Row>(rows: Iterable<Row>): Generator<Row[]> {
  let batch: Row[] = []
  for (const row of rows) {
    batch.push(row)
    if (batch.length < batchRows) continue
    yield batch
    batch = []
  }
  yield batch
}
