import type { TSchema } from '@sinclair/typebox'
import fc from 'fast-check'
import { type Operation, operations, type Parameter } from '../../kit/operations.ts'

// Generates hostile requests and ordinary ones; most differ from a valid request in one part only.

export interface Request {
  /** Index of its endpoint in `operations`. */
  endpoint: number
  method: string
  path: string
  headers: Record<string, string>
  body: Buffer | undefined
}

export interface ServerValues {
  key: string
  cursors: readonly string[]
}

const hostileTexts = [
  '',
  ' ',
  "' OR 1=1 --",
  '"; DROP TABLE clicks; --',
  '[object Object]',
  '\r\nx-evil: 1',
  ...'0 -0 1e309 NaN Infinity 1.0 ٣ -1 2147483648 9007199254740993 null undefined true false'.split(' '),
  ...'__proto__ constructor toString hasOwnProperty length'.split(' '),
  ...String.raw`{p1:String} {p1:Identifier} $1 $\{7*7} ? \ \' \N % _ %_% %25 * .* (a+)+$ {"$gt":""} // \\x`.split(' '),
  '../../../etc/passwd',
  '\0',
  'a\0b',
  '\n',
  '\t',
  '\u2028',
  '\ufeff',
  '\u202e',
  '\ufffd',
  ...'İ ß ﬁ ς é 🎈 👨‍👩‍👧'.split(' '),
  '9'.repeat(400),
  'x'.repeat(5_000),
  '🎈'.repeat(600),
  'a,'.repeat(2_000),
  '%'.repeat(300),
  '('.repeat(500),
  ...'2026-02-30 0000-01-01 9999-12-31 -271821-04-20 2026-11-21T23:59:60Z 2026-11-21T00:00:00+24:00'.split(' '),
  ...'1969-12-31 2106-02-07 2026-11-21T00:00:00.123456789Z 2026-W01-1 20261121 now 1793491200000'.split(' '),
]
const hostileText = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  fc.json({ maxDepth: 2 }),
  fc.double().map(String),
)

/** Forged cursors: a real one with another part (fingerprint, time or id), or truncated. */
function forgedCursor(cursors: readonly string[]): fc.Arbitrary<string> {
  const extremes = [0, -1, 0.5, -62167219200000, 253402300799999, 8.64e15, -8.64e15, 2 ** 53, 1e300]
  const others = [null, 'now', [], {}, '', 'a', 'z'.repeat(128), 'z'.repeat(129), '\0']
  const part = fc.oneof(fc.constantFrom<unknown[]>(...extremes, ...others), fc.maxSafeInteger(), hostileText)
  const forged = fc.tuple(fc.constantFrom(...cursors), fc.nat(2), part).map(([cursor, index, value]) => {
    const parts: unknown[] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Buffer.from(JSON.stringify(parts.with(index, value))).toString('base64url')
  })
  const cut = fc
    .tuple(fc.constantFrom(...cursors), fc.nat(80))
    .map(([cursor, length]) => cursor.slice(0, length) || 'x')
  return fc.oneof({ weight: 4, arbitrary: forged }, { weight: 2, arbitrary: fc.oneof(cut, hostileText) })
}

const ids = fc.oneof(
  fc.constantFrom('k1', 'k2', 'o1', 'l1', 't1', 'c1', 'e1', 'absent', 'search', '.', '..', ':', '-'),
  fc.stringMatching(/^[A-Za-z0-9_.:-]{1,64}$/),
)
const dates = fc.date({ min: new Date(Date.UTC(2025, 0, 1)), max: new Date(Date.UTC(2027, 0, 1)), noInvalidDate: true })
const moments = fc.oneof(
  dates.map((date) => date.toISOString().slice(0, 10)),
  dates.map((date) => date.toISOString()),
  dates.map((date) => date.toISOString().replace('Z', '+05:45')),
  fc.constantFrom('0000-01-01', '9999-12-31', '1969-12-31T23:59:59.999Z', '2106-01-01', '9999-12-31T23:59:59-23:59'),
)

/** Ordinary values, by the name of a parameter or field; the values of any other follow from its schema. */
const ordinary: Record<string, fc.Arbitrary<string>> = {
  event_name: fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_]{0,63}$/),
  country: fc.constantFrom('US', '!DE,AT', '(not set)'),
  device: fc.constantFrom('mobile', '!mobile,tablet'),
  steps: fc.constantFrom('visit,signup', 'click,visit,conversion', 'visit,visit,event:click', 'a,b,c,d,e,f,g,h'),
  window: fc.constantFrom('1h', '7d', '30d', '720h'),
  tz: fc.constantFrom(...Intl.supportedValuesOf('timeZone'), 'Etc/GMT+5', 'US/Eastern', 'utc'),
  q: fc.oneof(
    fc.constantFrom('needle', 'k1', 'ab', 'İs', '%_', '\\\\', 'Σς'),
    fc.string({ unit: 'grapheme', minLength: 2, maxLength: 100 }),
  ),
}
const momentNames = ['from', 'to', 'updated_since', 'updated_after', 'timestamp']

function ordinaryOf(
  { name, schema }: Pick<Parameter, 'name' | 'schema'>,
  { cursors }: ServerValues,
): fc.Arbitrary<string> {
  if (name === 'cursor') return fc.oneof(fc.constantFrom(...cursors), forgedCursor(cursors))
  if (momentNames.includes(name)) return moments
  return ordinary[name] ?? (name.endsWith('_id') ? ids : fromSchema(schema))
}

function fromSchema({ type, enum: allowed, minimum, maximum, pattern }: TSchema): fc.Arbitrary<string> {
  if (allowed) return fc.constantFrom(...(allowed as string[]))
  if (type === 'integer') return fc.integer({ min: minimum, max: maximum }).map(String)
  if (type === 'boolean') return fc.constantFrom('true', 'false')
  return pattern ? fc.stringMatching(new RegExp(pattern)) : fc.string({ minLength: 1, maxLength: 60 })
}

/** Encodings of a text in a path or a query string, valid and invalid ones. */
const encoders: ((text: string) => string)[] = [
  encodeURIComponent,
  (text) => encodeURIComponent(text).replaceAll('%20', '+'),
  (text) => encodeURIComponent(encodeURIComponent(text)),
  (text) => encodeURIComponent(text).toLowerCase(),
  (text) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&'),
  (text) => text,
  (text) => `${encodeURIComponent(text)}%`,
  (text) => `%c0%80${encodeURIComponent(text)}`,
  (text) => `${encodeURIComponent(text)}%ed%a0%80`,
  (text) => `%u0041${encodeURIComponent(text)}%ZZ`,
]
const encoder = fc.oneof(
  { weight: 6, arbitrary: fc.constant(encodeURIComponent) },
  { weight: 1, arbitrary: fc.constantFrom(...encoders) },
)

function written(text: string, encode: (text: string) => string): string {
  return encode(text.toWellFormed()).replaceAll(/[^\x21-\xff]/g, (character) =>
    encodeURIComponent(character.toWellFormed()),
  )
}

/** One parameter of the query string, or none. @param count of parameters of the endpoint: each of many is rare, since all of them must be valid */
function pairOf(parameter: Parameter, count: number, known: ServerValues): fc.Arbitrary<string[]> {
  const { name, required } = parameter
  const value = fc.oneof({ weight: 14, arbitrary: ordinaryOf(parameter, known) }, { weight: 1, arbitrary: hostileText })
  const given = fc.tuple(value, encoder).map(([text, encode]) => [`${name}=${written(text, encode)}`])
  return fc.oneof(
    { weight: required ? 40 : 10, arbitrary: given },
    { weight: required ? 1 : Math.max(16, 4 * count), arbitrary: fc.constant<string[]>([]) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<string[]>([name], [`${name}=`], [`${name}[]=1`], [`${name.toUpperCase()}=1`]),
    },
  )
}

/** The first value forty times as often as another one. */
const often = (usual: string, ...others: string[]) =>
  fc.oneof({ weight: 40, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) })

/** Present once in 31 times. */
const seldom = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 30, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })

const unknownParameters = fc
  .tuple(hostileText, hostileText, encoder)
  .map(([name, value, encode]) => `${written(name, encode)}=${written(value, encode)}`)

function queryOf({ query }: Operation, known: ServerValues): fc.Arbitrary<string> {
  const pairs = fc.tuple(...query.map((parameter) => pairOf(parameter, query.length, known))).map((all) => all.flat())
  return fc
    .tuple(pairs, seldom(unknownParameters), fc.nat(24), fc.constantFrom('&', '&', '&', '&', '&', '&', ';', '&&', '&?'))
    .map(([given, unknown, variant, separator]) => {
      const [first] = given
      // Sometimes the first parameter is repeated.
      const all = [...given, ...(unknown === undefined ? [] : [unknown]), ...(variant === 0 && first ? [first] : [])]
      return all.join(separator)
    })
}

const hostileHeaders = fc.constantFrom<[string, string]>(
  ['x-account-id', 'other'],
  ['x-forwarded-for', '127.0.0.1, ::1, garbage'],
  ['x-forwarded-host', 'evil.example'],
  ['x-original-url', '/api/v1/offers'],
  ['x-http-method-override', 'DELETE'],
  ['x-request-id', '"><script>'],
  ['if-none-match', '*'],
  ['if-none-match', 'W/"", "\\", ,,,'],
  ['if-modified-since', 'never'],
  ['range', 'bytes=0-1'],
  ['accept', 'text/html;q=0.9, */*;q=-1'],
  ['accept-encoding', 'gzip, br, \xff'],
  ['content-type', 'application/json'],
  ['content-type', 'text/plain'],
  ['cookie', 'session=1; '.repeat(40)],
  ['origin', 'null'],
  ['referer', '\xe9'],
  ['te', 'trailers'],
  ['upgrade-insecure-requests', '1'],
  ['accept-version', '9.9.9'],
  ['x-filler', 'x'.repeat(6_000)],
)

const authorizations = ({ key }: ServerValues) => {
  const wrong = ['', 'ApiKey', `Bearer ${key}`, `apikey  ${key} `, `ApiKey ${key.slice(0, -1)}x`, 'ApiKey trb_live_']
  return often(`ApiKey ${key}`, ...wrong, `ApiKey ${'x'.repeat(3_000)}`, '\xff\xfe')
}

/** JSON values, most of them not text. */
const hostileValue = fc.oneof(
  hostileText,
  fc.constantFrom(null, true, 0, -0, 1e308, -1e13, 1.5, 2 ** 53, [], {}, [[]], [null]),
  fc.jsonValue({ maxDepth: 4 }),
)

const properties = fc.oneof(
  fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 70 }), hostileValue, { maxKeys: 24 }),
  fc.constantFrom({ __proto__: { a: 1 } }, { constructor: { prototype: {} } }, { '': 1 }, 'text', 5, []),
)

function eventText(known: ServerValues): fc.Arbitrary<string> {
  const body = operations.find(({ method, path }) => method === 'POST' && path === '/events')?.body ?? {}
  const fields = Object.entries(body).map(([name, schema]) => {
    const value: fc.Arbitrary<unknown> =
      name === 'properties' ? properties : name === 'value' ? fc.double() : ordinaryOf({ name, schema }, known)
    const given = fc.oneof({ weight: 12, arbitrary: value }, { weight: 1, arbitrary: hostileValue })
    const isUsual = name === 'event_name' || name === 'click_id'
    return fc.option(
      given.map((one) => [name, one] as const),
      { nil: undefined, freq: isUsual ? 20 : 2 },
    )
  })
  const more = fc.option(fc.tuple(hostileText, hostileValue), { nil: undefined, freq: 3 })
  return fc.tuple(...fields, more).map((pairs) => {
    // Built as text: an object would lose `__proto__` and repeated names.
    const all = pairs.flatMap((pair) =>
      pair ? [`${JSON.stringify(pair[0])}:${JSON.stringify(pair[1]) ?? 'null'}`] : [],
    )
    return `{${all.join(',')}}`
  })
}

const hostileBodies = [
  '',
  '[]',
  'null',
  '{"a":"\\ud800"}',
  `${'['.repeat(9_000)}${']'.repeat(9_000)}`,
  '{"event_name":"a","click_id":"c1","value":1e999}',
  '{"event_name":"a","event_name":"b","click_id":"c1"}',
  `{"event_name":"a","x":"${'x'.repeat(70_000)}"}`,
  `{"event_name":"a","click_id":"c1","properties":${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}}`,
]

function bodyOf({ body = {} }: Operation, known: ServerValues): fc.Arbitrary<Buffer> {
  const event = eventText(known)
  const batch = fc.array(event, { minLength: 1, maxLength: 5 }).map((events) => `{"events":[${events.join(',')}]}`)
  const text = 'events' in body ? batch : event
  return fc.oneof(
    { weight: 16, arbitrary: text.map((json) => Buffer.from(json)) },
    { weight: 1, arbitrary: fc.tuple(text, fc.nat(200)).map(([json, end]) => Buffer.from(json.slice(0, end))) },
    { weight: 1, arbitrary: text.map((json) => Buffer.from(`\ufeff${json}`, 'utf16le')) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: fc.constantFrom(...hostileBodies).map((json) => Buffer.from(json)) },
  )
}

/** Generates requests; most differ from a valid one in at least one part. */
export function requests(known: ServerValues): fc.Arbitrary<Request> {
  return fc.constantFrom(...operations).chain((operation) => {
    const otherMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']
    const method = often(operation.method, ...otherMethods)
    const id = fc
      .tuple(fc.oneof({ weight: 4, arbitrary: ids }, { weight: 1, arbitrary: hostileText }), encoder)
      .map(([text, encode]) => written(text, encode))
    const tail = often('', '/', '/x', '//', '%2f', ';a=b', '#x', '%00', '\xe9', '.json')
    const headers = fc.array(hostileHeaders, { maxLength: 2 })
    const otherTypes = ['application/json; charset=utf-16', 'APPLICATION/JSON;;', 'text/json', '*/*']
    const contentType = often('application/json', ...otherTypes, 'application/x-www-form-urlencoded')
    const body = operation.body
      ? bodyOf(operation, known)
      : seldom(fc.constantFrom(Buffer.from('{}'), Buffer.from('x')))
    return fc.tuple(method, id, tail, queryOf(operation, known), authorizations(known), headers, contentType, body).map(
      ([verb, name, end, query, authorization, more, type, payload]): Request => ({
        endpoint: operations.indexOf(operation),
        method: verb,
        path: `/api/v1${operation.path.replace('{id}', name)}${end}${query === '' ? '' : `?${query}`}`,
        headers: {
          authorization,
          ...(operation.body && { 'content-type': type }),
          ...(payload && { 'content-length': String(payload.length) }),
          ...Object.fromEntries(more),
        },
        body: payload,
      }),
    )
  })
}
