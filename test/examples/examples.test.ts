// @module-tag all

import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { ReportResponse } from '../../schema/report.ts'
import { packageRoot } from '../../src/package.ts'
import { importContent } from '../import/runImport.ts'
import { forward, openApiProxy } from '../kit/apiProxy.ts'
import { useTestApp } from '../kit/app.ts'
import { useFolder } from '../kit/fixtures.ts'
import { openHttpServer } from '../kit/httpServer.ts'
import { isInstalled } from '../kit/isInstalled.ts'

// Runs the scripts of docs/examples unchanged.

const api = useTestApp()
let key: string
let environment: Record<string, string>

beforeAll(async () => {
  key = await api.account('acme')
  const url = await api.app.listen({ port: 0, host: '127.0.0.1' })
  environment = { PATH: process.env.PATH ?? '', TRIBUTARY_URL: url, TRIBUTARY_KEY: key }
  await importContent(api.stores, 'acme', 'campaigns', [{ id: 'spring', name: 'Spring' }])
  await importContent(api.stores, 'acme', 'clicks', clicks)
  await importContent(api.stores, 'acme', 'conversions', conversions)
})

const firstMs = Date.UTC(2026, 10, 20)
const clicks = Array.from({ length: 2_500 }, (_, n) => ({
  id: `c${n}`,
  clickedAt: new Date(firstMs - n * 1_000).toISOString(),
  cost: 0.25,
  campaignId: n % 3 === 0 ? 'spring' : 'autumn',
  country: n % 2 === 0 ? 'DE' : 'US',
}))
const conversions = Array.from({ length: 250 }, (_, n) => ({
  id: `v${n}`,
  source: 'cpa',
  clickId: `c${n}`,
  status: 'pending',
  revenue: 1.5,
  convertedAt: new Date(firstMs - n * 500).toISOString(),
}))

describe('docs/examples', () => {
  it('pull.mjs prints the clicks that converted', async () => {
    const { stdout } = await runScript('pull.mjs')
    expect(stdout.trim().split('\n')).toHaveLength(250)
  })

  it('drilldown.mjs prints campaigns by country, a day against the day before', async () => {
    // Of 2,500 clicks, one second apart, the first is at midnight; of 250 pending conversions too.
    const table = async (day: string) => {
      const { stdout } = await runScript('drilldown.mjs', 'UTC', day)
      const [title, ...lines] = stdout.trimEnd().split('\n')
      expect(title).toMatch(new RegExp(`^${day} against .*, UTC, USD$`))
      expect(new Set(lines.map(({ length }) => length)).size).toBe(1)
      return lines.map((line) => line.split(/ {2,}/))
    }
    const head = ['Campaign', 'Country', 'Clicks', 'Conv.', 'Cost', 'Revenue', 'Profit', 'Profit before', 'ROI', 'EPC']
    const none = { conversions: ['0', '–'], epc: '0.000' }
    expect(await table('2026-11-20')).toEqual([
      head,
      ['Spring', 'DE', '1', '-100%', ...none.conversions, '0.25', '0.00', '-0.25', '-104.00', '-100.0%', none.epc],
      ['Total of 1', '1', '-100%', ...none.conversions, '0.25', '0.00', '-0.25', '-624.75', '-100.0%', none.epc],
    ])
    const days = await table('2026-11-19')
    expect(days.map(([campaign, country, clicks, change]) => [campaign, country, clicks, change])).toEqual([
      ['Campaign', 'Country', 'Clicks', 'Conv.'],
      ['autumn', 'DE', '833', '–'],
      ['autumn', 'US', '833', '–'],
      ['Spring', 'US', '417', '–'],
      ['Spring', 'DE', '416', '–'],
      ['Total of 4', '2,499', '–', '0'],
    ])
  })

  it('duckdb.sh has the same counts as the report', async () => {
    const { stdout } = await runScript('duckdb.sh', '2026-11-01')
    const counted = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const report = '/reports?group_by=campaign&from=2026-11-01&to=2026-11-21'
    const { data } = await api.read(report, key, ReportResponse)
    expect(counted).toEqual(
      data.map(({ id, clicks, conversions }) => ({
        campaignId: id,
        campaign: id === 'spring' ? 'Spring' : null,
        clicks,
        conversions,
      })),
    )
    await expect(runScript('duckdb.sh', 'yesterday')).rejects.toThrow('invalid_from')
  })
})

describe.skipIf(!isInstalled('python3'))('docs/examples/tributary.py', () => {
  const folder = useFolder()
  const python = async (...words: string[]) => (await runScript('tributary.py', ...words)).stdout
  const rowsOf = async (...words: string[]) =>
    (await python('rows', ...words))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))

  it('reads all pages of lists and reports', async () => {
    const german = clicks.filter(({ country }) => country === 'DE').map(({ id }) => id)
    expect((await rowsOf('/clicks', 'limit=200', 'country=DE')).map(({ id }) => id)).toEqual(german)
    const filters = '[["not",["is","country",["US"]]],[">=","clicks",1]]'
    const words = ['group_by=campaign', 'range=this_week', 'count_at=click', `filters=${filters}`]
    const inWeek = await rowsOf('/reports', 'limit=1', ...words)
    const { data } = await api.read(`/reports?${encodeURI(words.join('&'))}`, key, ReportResponse)
    expect(inWeek).toEqual(data)
    expect(inWeek.map(({ clicks }) => clicks)).toEqual([833, 417])
    const old = { 'o1-FR': '2026-10-02', 'o2-IT': '2026-10-02', 'o3-IT': '2026-08-31' }
    const oldClicks = Object.entries(old).map(([id, date]) => ({
      id,
      clickedAt: `${date}T10:00Z`,
      country: id.slice(3),
    }))
    await importContent(api.stores, 'acme', 'clicks', oldClicks)
    const month = await rowsOf(
      ...'/reports group_by=country range=last_month compare=previous_period limit=1'.split(' '),
    )
    expect(month.map(({ id, previous }) => [id, previous.clicks])).toEqual([
      ['FR', 0],
      ['IT', 0],
    ])
  })

  it('sends the values of a list literally', async () => {
    const code = `import sys, json; sys.path.insert(0, sys.argv[1]); import tributary
print(json.dumps([tributary._text(value) for value in (['a, b', '\\\\', '!x'], ['!x', True, 1], ('!',), [], 'a,b', '!x', 5)]
  + [tributary._text(value, 'filters') for value in ([['<', 'profit', 0]], '[]')]))`
    const { stdout } = await promisify(execFile)('python3', ['-c', code, join(packageRoot, 'docs/examples')])
    const literal = ['a\\, b,\\\\,!x', '\\!x,true,1', '\\!', '']
    expect(JSON.parse(stdout)).toEqual([...literal, 'a,b', '!x', '5', '[["<", "profit", 0]]', '[]'])
  })

  it('refuses a key with a line break without showing it, and takes one with white space around it', async () => {
    const before = environment
    const withKey = async (apiKey: string) => {
      environment = { ...before, TRIBUTARY_KEY: apiKey }
      return await rowsOf('/campaigns')
    }
    const refused = await withKey(`${key}\ntrb_live_second`).catch((error: Error) => error.message)
    expect(await withKey(` ${key}\r\n`)).toMatchObject([{ name: 'Spring' }])
    environment = before
    expect(refused).toMatch(/invalid_api_key: The API key .* a line break/)
    expect(refused).not.toContain(key.slice(9))
  })

  it('reads at most 64 MiB of a response, and prints an error in one line without invisible characters', async () => {
    const messages = [undefined, '\u001b[2J\n\u202egone']
    const server = await openHttpServer((_, response) => {
      const message = messages.shift()
      if (message !== undefined) return response.writeHead(400).end(JSON.stringify({ error: 'no', message }))
      const send = () => {
        while (!response.destroyed)
          if (!response.write(Buffer.alloc(1_048_576, ' '))) return response.once('drain', send)
      }
      send()
    })
    const read = () => runScriptAt(server.url, 'tributary.py', 'rows', '/campaigns')
    await expect(read()).rejects.toThrow('The response is longer than 67108864 bytes.')
    await expect(read()).rejects.toThrow(String.raw`no: \x1b[2J\n\u202egone`)
    await server.close()
  })

  it('exports a complete file after a broken connection, or none', async () => {
    let responses = 0
    const proxy = await openApiProxy(environment.TRIBUTARY_URL ?? '', {
      answer(outgoing, response) {
        responses += 1
        if (responses > 1) return forward(outgoing, response)
        outgoing.writeHead(200, { 'transfer-encoding': 'chunked' })
        response.once('data', (rows) => outgoing.write(rows, () => outgoing.destroy()))
      },
    })
    await runScriptAt(proxy.url, 'tributary.py', 'export', '/clicks', folder('clicks.csv'), 'country=DE')
    expect(responses).toBe(2)
    expect(await readFile(folder('clicks.csv'), 'utf8')).toBe(
      (await api.get('/clicks?country=DE&format=csv', key)).body,
    )
    await expect(python('export', '/clicks', folder('none.csv'), 'from=yesterday')).rejects.toThrow('invalid_from: ')
    expect(await readdir(folder())).toEqual(['clicks.csv'])
    await proxy.close()
  })

  it('sends each event once, after refused requests and after lost responses too', async () => {
    const failures = [429, 503, 'lost']
    const proxy = await openApiProxy(environment.TRIBUTARY_URL ?? '', {
      answer(outgoing, response) {
        const failure = failures.shift()
        if (failure === undefined) return forward(outgoing, response)
        response.resume()
        if (typeof failure === 'string') return outgoing.destroy()
        outgoing.writeHead(failure, { 'retry-after': '0' }).end('{}')
      },
    })
    const events = Array.from({ length: 1_500 }, (_, n) => ({ click_id: `c${3 * (n % 800)}`, event_name: 'paid' }))
    const lines = [...events, { click_id: 'none', event_name: 'paid' }].map((event) => JSON.stringify(event))
    await writeFile(folder('events.ndjson'), lines.join('\n'))
    const { stdout } = await runScriptAt(proxy.url, 'tributary.py', 'send', folder('events.ndjson'))
    // The server had stored the first batch before each of the failures.
    const rejected = [expect.objectContaining({ error: 'click_not_found', event: expect.anything() })]
    expect(JSON.parse(stdout)).toEqual({ stored: 500, deduplicated: 1_000, overCeiling: 0, rejected })
    expect((await rowsOf('/events', 'limit=200')).length).toBe(events.length)
    await proxy.close()
  })
})

function runScript(name: string, ...words: string[]) {
  return runScriptAt(environment.TRIBUTARY_URL ?? '', name, ...words)
}

/** Runs a script once. @throws Error with its output when it fails */
async function runScriptAt(url: string, name: string, ...words: string[]) {
  const path = join(packageRoot, 'docs/examples', name)
  const interpreter = { '.mjs': process.execPath, '.py': 'python3' }[extname(name)]
  const [program, ...rest] = [interpreter ?? [], path, ...words].flat()
  const env = { ...environment, TRIBUTARY_URL: url }
  return await promisify(execFile)(program ?? path, rest, { env, maxBuffer: 16 * 1_048_576 }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${name}: ${error.stderr}${error.stdout}`)
    },
  )
}
