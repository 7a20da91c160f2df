// Moves the rows of a Redis stream to `tributary feed`, in order: REDIS_URL=… FEED_URL=… FEED_TOKEN=… node docs/examples/redisToFeed.mjs tributary:rows
// The field `rows` of an entry has one or more lines of JSON. Run one process at a time, and start it again when it ends: each error ends it.
import { Redis } from 'ioredis'
import { sendRows } from 'tributary-client'

const {
  REDIS_URL = 'redis://127.0.0.1:6379',
  FEED_URL: url = 'http://127.0.0.1:3100',
  FEED_TOKEN: token = '',
} = process.env
const [stream = 'tributary:rows'] = process.argv.slice(2)
const [group, consumer, entriesMax, blockMs] = ['tributary', 'mover', 2_000, 5_000]

// A lost connection is an error: entries of a lost response are pending, and the next process reads them first.
const redis = new Redis(REDIS_URL, { retryStrategy: null, socketTimeout: 4 * blockMs })
redis.on('error', ({ message }) => console.error(message))

/** The text of a row stays as it is: JSON.parse rounds long numbers. A conversion or cost without `updatedAt` gets the time of its entry. */
function withTime(row, id) {
  try {
    const { resource, updatedAt } = JSON.parse(row)
    if (updatedAt || !['conversions', 'costs'].includes(resource)) return row
    return `${row.trimEnd().slice(0, -1)},"updatedAt":"${new Date(Number.parseInt(id, 10)).toISOString()}"}`
  } catch {
    return row // The feed rejects it.
  }
}

/** Sends the rows of entries, adds rejected ones to another stream with all fields of their entry, and acknowledges the entries. */
async function move(entries) {
  const rows = []
  const rejected = []
  for (const [id, fields] of entries) {
    const at = 1 + fields.findIndex((name, index) => index % 2 === 0 && name === 'rows')
    const lines = (at && fields[at].split(/\n\s*/).filter((line) => line.trim())) || []
    for (const line of lines) rows.push({ id, row: withTime(line, id), fields: fields.with(at, line) })
    if (lines.length === 0) rejected.push({ id, reason: 'the entry has no rows', fields })
  }
  const texts = rows.map(({ row }) => row)
  const sent = rows[Symbol.iterator]()
  for await (const { result, reason } of sendRows(texts, { url, token })) {
    const { value } = sent.next()
    if (result === 'rejected' || result === 'conflict') rejected.push({ ...value, reason })
  }
  const add = ({ id, reason, fields }) => redis.xadd(`${stream}:rejected`, '*', 'id', id, 'reason', reason, ...fields)
  await Promise.all(rejected.map(add))
  if (entries.length > 0) await redis.xack(stream, group, ...entries.map(([id]) => id))
}

await redis.xgroup('CREATE', stream, group, '0', 'MKSTREAM').catch((error) => {
  if (!error.message.startsWith('BUSYGROUP')) throw error
})
let cursor = '0-0'
do {
  const [next, entries] = await redis.xautoclaim(stream, group, consumer, 0, cursor, 'COUNT', entriesMax)
  await move(entries)
  cursor = next
} while (cursor !== '0-0')
const newEntries = ['COUNT', entriesMax, 'BLOCK', blockMs, 'STREAMS', stream, '>']
for (;;) await move((await redis.xreadgroup('GROUP', group, consumer, ...newEntries))?.[0][1] ?? [])
