// @module-tag node

import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { checkHeader } from '../../src/import/header.ts'
import { readCsv } from '../../src/import/parsers/csvParser.ts'
import { type Delimiter, FormatError, formatOf } from '../../src/import/parsers/fileFormat.ts'
import { lineBytesMax, splitIntoLines } from '../../src/import/parsers/lines.ts'
import { type RawRow, readNdjson } from '../../src/import/parsers/ndjsonParser.ts'
import { asUtf8 } from '../../src/import/parsers/sheetText.ts'
import { type Mapping, noMapping } from '../../src/import/readers/mapping.ts'
import { RowError } from '../../src/import/readers/rowError.ts'
import type { ResourceName } from '../../src/import/resourceNames.ts'
import { openSource, SourceError } from '../../src/import/source.ts'
import { textOf } from '../../src/query/exactJson.ts'
import { useFolder } from '../kit/fixtures.ts'

const folder = useFolder()

/** Bytes in chunks of a size that has nothing to do with lines. */
async function* chunks(bytes: Buffer | string, size = 7): AsyncGenerator<Buffer> {
  const all = Buffer.from(bytes)
  for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size)
}

async function all<Item>(batches: AsyncIterable<Item[]>): Promise<Item[]> {
  const items: Item[] = []
  for await (const batch of batches) for (const item of batch) items.push(item)
  return items
}

const ndjson = (bytes: Buffer | string, size?: number) => all(readNdjson(splitIntoLines(chunks(bytes, size))))
const csv = (bytes: Buffer | string, size?: number, delimiter?: Delimiter) =>
  all(readCsv(splitIntoLines(chunks(bytes, size)), { delimiter, checkHeader: () => 0 }))
const seen = (rows: RawRow[]) =>
  rows.map(({ line, fields }) => [line, fields instanceof RowError ? fields.message : fields])

describe('lines', () => {
  it('are the same for every division of the bytes into chunks', async () => {
    const line = fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text.replaceAll('\n', ' '))
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1 }), fc.integer({ min: 1, max: 9 }), async (texts, size) => {
        fc.pre(texts[0]?.charCodeAt(0) !== 0xfeff && texts.at(-1) !== '')
        const lines = await all(splitIntoLines(chunks(texts.join('\n'), size)))
        expect(lines.map(({ text }) => text)).toEqual(texts.map((text) => text.toWellFormed()))
        expect(lines.map(({ number }) => number)).toEqual(texts.map((_, index) => index + 1))
      }),
      { numRuns: 100 },
    )
  })

  it('are the same in UTF-16 of either byte order, for every division into chunks', async () => {
    const table = '\ufeffDay\tName\n2026-11-20\t日本 🎉\n'
    for (const bytes of [Buffer.from(table, 'utf16le'), Buffer.from(table, 'utf16le').swap16()])
      for (const size of [2, 3, 7, 100])
        expect(await all(splitIntoLines(asUtf8(chunks(bytes, size))))).toEqual(await all(splitIntoLines(chunks(table))))
    const cut = asUtf8(chunks(Buffer.from(table, 'utf16le').subarray(0, -1)))
    await expect(all(splitIntoLines(cut))).rejects.toThrow('not valid')
  })

  it('that are blank are skipped but numbered', async () => {
    expect(seen(await ndjson('\n{"id":"a"}\n\n  \r\n{"id":"b"}'))).toEqual([
      [2, { id: 'a' }],
      [5, { id: 'b' }],
    ])
  })

  it('that are not UTF-8 are rejected alone', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"id":"a"}\n{"id":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}\n{"id":"é"}\n'),
    ])
    for (const size of [3, 1_000]) {
      expect(seen(await ndjson(bytes, size))).toEqual([
        [1, { id: 'a' }],
        [2, 'is not UTF-8'],
        [3, { id: 'é' }],
      ])
    }
  })

  it('that are too long are rejected alone, and only their beginning is kept', async () => {
    const long = `{"id":"${'x'.repeat(3 * lineBytesMax)}"}`
    const rows = await ndjson(`{"id":"a"}\n${long}\n{"id":"b"}\n${long}`, 1 << 16)
    expect(seen(rows)).toEqual([
      [1, { id: 'a' }],
      [2, `is longer than ${lineBytesMax} bytes`],
      [3, { id: 'b' }],
      [4, `is longer than ${lineBytesMax} bytes`],
    ])
    expect(rows[1]?.text.length).toBe(4_096)
  })
})

describe('NDJSON', () => {
  it('that is not a JSON object is rejected', async () => {
    expect(seen(await ndjson('{"id":\n[1]\n5\nnull\n"x"\n\0\n{"a":1}{"b":2}'))).toEqual([
      [1, 'is not JSON'],
      [2, 'is a JSON array; write one object per line'],
      [3, 'is not a JSON object'],
      [4, 'is not a JSON object'],
      [5, 'is not a JSON object'],
      [6, 'is not JSON'],
      [7, 'has more than one JSON value; end each row with a line feed (curl: --data-binary)'],
    ])
  })

  it('without a closing quote is rejected in the time of a line that has one', async () => {
    const cpuOf = async (end: string) => {
      const before = process.cpuUsage()
      const [row] = await ndjson(`{"b":1.0,"a":"${'\\"'.repeat(500_000)}${end}`)
      expect(row?.fields instanceof RowError).toBe(end === '')
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    await cpuOf('"}')
    const closed = await cpuOf('"}')
    expect(await cpuOf('')).toBeLessThan(10 * closed + 100_000)
  })

  it('may have any keys: none is read as a number', async () => {
    const fields = { properties: { '\0number': 'x', t: ':1e' }, value: { number: '1' } }
    expect(seen(await ndjson(JSON.stringify(fields)))).toEqual([[1, fields]])
  })

  it('that is one JSON array fails as a whole and names the solution', async () => {
    for (const text of ['[{"id":"a"}]', '\n [\n{"id":"a"}\n]'])
      await expect(ndjson(text)).rejects.toThrow(/it is a JSON array; write one object per line/)
  })

  it('keeps the digits of every number as they stand in the file', async () => {
    const digit = fc.constantFrom(...'0123456789')
    const number = fc
      .tuple(
        fc.boolean(),
        fc.bigInt({ min: 0n, max: 10n ** 30n }),
        fc.array(digit, { maxLength: 20 }),
        fc.constantFrom('', 'e5', 'E-7', 'e+0'),
      )
      .map(
        ([minus, whole, decimals, exponent]) =>
          `${minus ? '-' : ''}${whole}${decimals.length > 0 ? '.' : ''}${decimals.join('')}${exponent}`,
      )
    await fc.assert(
      fc.asyncProperty(
        fc.array(number, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('', ' '),
        async (numbers, space) => {
          const list = numbers.join(`${space},${space}`)
          const [row] = await ndjson(`{"a":${space}${numbers[0]}${space},"b":{"c":[${space}${list}]},"d":"x: 1e5"}`)
          const fields = row?.fields as { a: unknown; b: { c: unknown[] }; d: string }
          expect([fields.a, ...fields.b.c].map(textOf)).toEqual(
            [numbers[0], ...numbers].map((text = '') => (text === '-0' ? '0' : text)),
          )
          expect(fields.d).toBe('x: 1e5')
        },
      ),
    )
  })

  it('may have names of the object prototype, or a name twice', async () => {
    const [first, second] = await ndjson('{"__proto__":{"id":"x"},"constructor":1}\n{"id":"a","id":"b"}')
    expect(Object.keys(first?.fields ?? {})).toEqual(['__proto__', 'constructor'])
    expect(first?.fields).not.toHaveProperty('id')
    expect(second?.fields).toEqual({ id: 'b' })
  })
})

describe('CSV', () => {
  it.each([';', '\t', ','] as const)('has the delimiter that its first line sep=%j names', async (delimiter) => {
    for (const start of ['sep=', '\ufeffSEP=']) {
      const rows = await csv(`${start}${delimiter}\r\nid${delimiter}name\r\nk1${delimiter}"a, b; c"\r\n`)
      expect(seen(rows)).toEqual([[3, { id: 'k1', name: 'a, b; c' }]])
    }
  })

  it('with a first line sep= needs a supported delimiter there, and elsewhere sep= is a cell', async () => {
    await expect(csv('sep=|\nid|name\n')).rejects.toThrow(
      'its first line names the delimiter "|"; use ",", ";" or a tab',
    )
    expect(seen(await csv('id\nsep=;'))).toEqual([[2, { id: 'sep=;' }]])
  })

  it('returns the written cells for all quoting and chunk sizes', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', 'é', ' '), maxLength: 6 })
    const record = fc.tuple(cell, cell).filter((cells) => cells.join('').trim() !== '')
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
    await fc.assert(
      fc.asyncProperty(fc.array(record), fc.integer({ min: 1, max: 9 }), async (records, size) => {
        const written = (text: string) => (/[",\r\n]|^$/.test(text) ? quoted(text) : text)
        const file = ['x,y', ...records.map((record) => record.map(written).join(','))].join('\r\n')
        const rows = await csv(file, size)
        expect(rows.map(({ fields }) => fields)).toEqual(records.map(([x, y]) => ({ x, y })))
      }),
      { numRuns: 300 },
    )
  })

  it('with a stray or missing quote loses only that row', async () => {
    expect(seen(await csv('id,name\n1,a"b\n2,"open\n3,fine\n4,"x"y\n5,"two\nlines"\n6,z\n'))).toEqual([
      [2, 'has a quote inside a cell that is not quoted'],
      [3, 'has a quoted cell without a closing quote'],
      [4, { id: '3', name: 'fine' }],
      [5, 'has text after the closing quote of a cell'],
      [6, { id: '5', name: 'two\nlines' }],
      [8, { id: '6', name: 'z' }],
    ])
  })

  it('with a quote that is not closed within a megabyte loses only that row', async () => {
    const rows = await csv(`id,name\n1,"open\n${'2,fine\n'.repeat(200_000)}`, 1 << 16)
    expect(rows).toHaveLength(200_001)
    expect(rows.filter(({ fields }) => fields instanceof RowError).map(({ line }) => line)).toEqual([2])
  })

  it('scans every character at most a few times, also of records that are given up', async () => {
    const indexOf = String.prototype.indexOf
    let scanned = 0
    const spy = vi.spyOn(String.prototype, 'indexOf').mockImplementation(function (this: string, ...given) {
      const found = indexOf.apply(this, given)
      scanned += (found === -1 ? this.length : found) - (given[1] ?? 0) + 1
      return found
    })
    onTestFinished(() => void spy.mockRestore())
    for (const line of ['""\n', 'x\n', 'x"",""y\n', '"\n', ',"\n']) {
      const file = `id,name\n1,"open\n${line.repeat(3_000)}`
      scanned = 0
      await csv(file, 1 << 16)
      expect(scanned).toBeLessThan(6 * file.length)
    }
  })

  it('whose quote is never closed is returned in small batches', async () => {
    const file = `id\n"open\n${'x,y\n'.repeat(5_000)}`
    let rows = 0
    for await (const batch of readCsv(splitIntoLines(chunks(file, 1 << 16)), {
      delimiter: undefined,
      checkHeader: () => 0,
    })) {
      expect(batch.length).toBeLessThanOrEqual(1_000)
      rows += batch.length
    }
    expect(rows).toBe(5_001)
  })

  it('rejects a row with more or fewer cells than the header', async () => {
    expect(seen(await csv('id,name\n1\n\n2,a,b\n'))).toEqual([
      [2, 'has 1 cells, but the header has 2'],
      [4, 'has 3 cells, but the header has 2'],
    ])
  })

  it.each([
    ['id;name\n1;a,b\n', undefined, { id: '1', name: 'a,b' }],
    ['id\tname\n1\t"a\tb"\n', undefined, { id: '1', name: 'a\tb' }],
    ['\n"a,b,c,d";name\n1;2\n', undefined, { 'a,b,c,d': '1', name: '2' }],
    ['a,b;c\n1,2;3\n', ';' as const, { 'a,b': '1,2', c: '3' }],
    ['id\n1;2\n', undefined, { id: '1;2' }],
  ])('%j has the delimiter of its header, or the given one', async (text, delimiter, fields) => {
    expect((await csv(text, 3, delimiter)).map((row) => row.fields)).toEqual([fields])
  })

  it.each(['"id\n', 'id\xff\n'])('fails when the header is invalid: %j', async (text) => {
    await expect(csv(Buffer.from(text, 'latin1'))).rejects.toThrow(FormatError)
  })
})

describe('the header of a CSV file', () => {
  const problemOf = (resource: ResourceName, names: string[], mapping: Mapping = noMapping) => {
    try {
      checkHeader(resource, names, mapping, 1)
      return undefined
    } catch (error) {
      expect(error).toBeInstanceOf(FormatError)
      return (error as Error).message
    }
  }

  it('may have the columns of an API list and a column per sub-id', () => {
    const names = ['id', 'clickedAt', 'subIds', 'sub1', 'sub10', 'campaignName', 'conversionCount']
    expect(problemOf('clicks', names)).toBeUndefined()
    expect(problemOf('conversions', ['id', 'convertedAt', 'status', 'sub2'])).toBeUndefined()
  })

  it('may have columns that are not read without a name, twice, or not at all', () => {
    const ignoreUnknown = { ...noMapping, ignoreUnknown: true }
    const names = ['id', 'clickedAt', 'campaignName', 'campaignName']
    expect(problemOf('clicks', names)).toBeUndefined()
    expect(problemOf('clicks', [...names, '', '', 'note', 'note'], ignoreUnknown)).toBeUndefined()
    expect(problemOf('clicks', [...names, 'os', 'os'], { ...noMapping, map: [['os', '']] })).toBeUndefined()
    expect(problemOf('clicks', names, { ...noMapping, map: [['notes', '']] })).toBeUndefined()
    expect(problemOf('clicks', [...names, 'os', 'os'], { ...noMapping, constant: [['os', 'iOS']] })).toBeUndefined()
    expect(problemOf('clicks', [...names, ''])).toBe(
      'its header has a column without a name, which --ignore-unknown does not read',
    )
    for (const mapping of [noMapping, ignoreUnknown])
      expect(problemOf('clicks', [...names, 'os', 'os'], mapping)).toBe('its header names "os" twice')
    expect(problemOf('clicks', ['a', 'a', 'clickedAt'], { ...ignoreUnknown, map: [['a', 'id']] })).toBe(
      'its header names "a" twice',
    )
  })

  it.each([
    ['clicks', 'Click ID', 'id'],
    ['clicks', 'clicked_at', 'clickedAt'],
    ['clicks', 'contry', 'country'],
    ['clicks', 'Sub 1', 'sub1'],
    ['conversions', 'Click ID', 'clickId'],
    ['conversions', 'conversion_id', 'id'],
    ['landing-pages', 'Landing Page Name', 'name'],
    ['traffic-sources', 'source_name', 'name'],
  ] as const)('of %s with %j names %s as the column that is meant', (resource, name, meant) => {
    expect(problemOf(resource, [name])).toContain(`unknown columns: ${name} (did you mean ${meant}?)`)
  })

  it('lists all columns when an unknown one resembles none, and required columns that are missing', () => {
    expect(problemOf('offers', ['zzz\u001b[31m', 'Name'])).toBe(
      'its header has unknown columns: zzz\\u001b[31m, Name (did you mean name?); no column id and no column name. ' +
        'Columns of offers: id, name, status, url, affiliateNetwork, payoutType, payout, currency, countries, tags, createdAt, updatedAt',
    )
    expect(problemOf('clicks', ['id'])).toBe('its header has no column clickedAt')
    const many = Array.from({ length: 100_000 }, (_, index) => `zzz${index}`)
    expect(problemOf('clicks', ['id', 'clickedAt', ...many])).toMatch(/zzz18, zzz19 and 99980 others\. Columns/)
  })
})

describe('files', () => {
  const read = async (name: string, bytes: Buffer) => {
    const path = folder(name)
    writeFileSync(path, bytes)
    const format = formatOf(path)
    if (!format) throw new Error(name)
    const ended = new AbortController()
    const source = await openSource({ path, format }, { checkHeader: () => 0 }, ended.signal)
    return await all(source.rows).finally(() => ended.abort())
  }

  it('are NDJSON or CSV by their ending in upper or lower case, gzipped or not', async () => {
    const [ndjsonText, row] = ['{"id":"1"}', [[1, { id: '1' }]]]
    for (const [name, text, rows] of [
      ...['a.ndjson', 'b.json', 'b.JSONL', 'b.Ndjson'].map((name) => [name, ndjsonText, row] as const),
      ['a.csv', 'id\n1', [[2, { id: '1' }]]],
      ['b.CSV', 'id;name\n1;A,B', [[2, { id: '1', name: 'A,B' }]]],
      ['b.tsv', 'id\tname\n1\tA', [[2, { id: '1', name: 'A' }]]],
    ] as const) {
      expect([name, seen(await read(name, Buffer.from(text)))]).toEqual([name, rows])
      expect([name, seen(await read(`${name}.GZ`, gzipSync(text)))]).toEqual([name, rows])
    }
    for (const name of ['a.xlsx', 'a.gz', 'ndjson', 'a.csv.zip']) expect(formatOf(name)).toBeUndefined()
  })

  it('may be several gzip streams, one after the other', async () => {
    const rows = await read('a.csv.gz', Buffer.concat([gzipSync('id\n1'), gzipSync('2\n3')]))
    expect(seen(rows)).toEqual([
      [2, { id: '12' }],
      [3, { id: '3' }],
    ])
  })

  it('that are truncated or damaged fail with one clear error', async () => {
    const zipped = gzipSync('{"id":"1"}\n'.repeat(1_000))
    await expect(read('cut.ndjson.gz', zipped.subarray(0, -6))).rejects.toThrow(
      /is truncated: its gzip data is incomplete/,
    )
    await expect(read('plain.ndjson.gz', Buffer.from('{"id":"1"}\n'))).rejects.toThrow(/is damaged/)
  })

  it('that do not exist or are folders fail with the reason', async () => {
    const signal = new AbortController().signal
    const format = { isCsv: false, isGzipped: false }
    await expect(openSource({ path: folder('none.ndjson'), format }, { checkHeader: () => 0 }, signal)).rejects.toThrow(
      /does not exist/,
    )
    await expect(openSource({ path: folder(), format }, { checkHeader: () => 0 }, signal)).rejects.toThrow(SourceError)
  })
})
