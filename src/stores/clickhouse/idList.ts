import { ch, type Fragment, join, texts } from './sql.ts'

/** ClickHouse refuses a form field above 128 KiB; an id has at most 128 bytes, the key of an event 147, and quotes and a comma. */
const idsPerParameter = 800

/** Any number of ids as the right side of `IN`. */
export function idList(ids: readonly string[]): Fragment {
  const chunks: Fragment[] = []
  for (let first = 0; first < ids.length; first += idsPerParameter) {
    chunks.push(ch`${texts(ids.slice(first, first + idsPerParameter))}`)
  }
  return chunks.length === 0 ? ch`([])` : ch`(SELECT arrayJoin(arrayConcat(${join(chunks, ', ')})))`
}
