import { ch, type Fragment, join, texts } from './sql.ts'

/** ClickHouse rejects a form field above 128 KiB; an id takes up to 128 bytes, an event's key 147, plus quotes and comma. */
const idsPerParameter = 800

/** The right side of `IN` for any number of ids. */
export function idList(ids: readonly string[]): Fragment {
  const chunks: Fragment[] = []
  for (let first = 0; first < ids.length; first += idsPerParameter) {
    chunks.push(ch`${texts(ids.slice(first, first + idsPerParameter))}`)
  }
  return chunks.length === 0 ? ch`([])` : ch`(SELECT arrayJoin(arrayConcat(${join(chunks, ', ')})))`
}
