// @module-tag all

import { execFile } from 'node:child_process'
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { isMarkOf, readWritten } from '../../src/import/readers/writtenAmounts.ts'
import { expectOneLine, run, runHere } from '../cli/runCommand.ts'
import { useFolder, useTestStores } from '../kit/fixtures.ts'
import { makeAccount, rowsOf } from './runImport.ts'

const stores = useTestStores()
const folder = useFolder()
const mappings = join(import.meta.dirname, '../../docs/examples/mappings')
let account: string
beforeEach(async () => {
  account = await makeAccount(stores)
})

/** Imports a sheet. @param words options of the command */
async function importing(sheet: string | Buffer, words: readonly string[], name = 'sheet.csv') {
  await writeFile(folder(name), sheet)
  return await runHere(['import', 'costs', folder(name), '--account', account, ...words], stores.environment)
}
const plain = ['--map', 'Day=spentAt,Campaign ID=campaignId,Cost=cost', '--tz', 'Europe/Berlin']
const unknown = [...plain, '--ignore-unknown']
const stored = async () => {
  const query = `
    SELECT formatDateTime(spent_at, '%F %R', 'Europe/Berlin') AS at, campaign_id AS id, toFloat64(cost_base) AS cost
    FROM costs FINAL WHERE account_id = '${account}' ORDER BY spent_at, id`
  const rows = await rowsOf<{ at: string; id: string; cost: number }>(stores, query)
  return rows.map(({ at, id, cost }) => [at, id, cost])
}
const sum = async () => {
  const query = `SELECT toString(sum(cost_base)) AS cost FROM costs FINAL WHERE account_id = '${account}'`
  return Number((await rowsOf<{ cost: string }>(stores, query))[0]?.cost)
}

const googleHeader =
  'Campaign report\n"November 19, 2026 - November 20, 2026"\nDay,Campaign,Campaign ID,Currency code,Cost\n'
const google = `${googleHeader}2026-11-19,Brand,401,EUR,"1,060.25"\n2026-11-20,Shoes,402,EUR,39.75\n`
const googleTotals = `${google}Total: Campaigns, --, --, --,"1,100.00"\nTotal: Account, --, --, --,"1,100.00"\n`
const microsoft = `"Report Name: Spend"\n"Report Aggregation: Daily"\n"Rows: 2"\n
"TimePeriod","CampaignName","CampaignId","CurrencyCode","Spend"
"11/19/2026","Brand","401","USD","1,000.50"\n"11/20/2026","Brand","401","USD","9.50"\n`
const microsoftPage = microsoft
  .replace('TimePeriod', 'Gregorian date')
  .replace('CampaignName', 'Campaign')
  .replace('CampaignId', 'Campaign ID')
  .replace('CurrencyCode', 'Currency code')
const metaHeader = 'Reporting starts,Reporting ends,Campaign name,Campaign ID,Amount spent (USD)\n'
const metaRows = '2026-11-19,2026-11-19,Spring,1202,100.00\n2026-11-20,2026-11-20,Autumn,1203,200.00\n'
const tiktok = `Campaign name,Campaign ID,By Day,Cost,Currency
A,1780000000000001,2026-11-19,60.25,USD\nB,1780000000000002,2026-11-19,1.75,USD\nTotal of 2 results,-,-,62.00,USD\n`
const taboola = `date,date_end_period,campaign,campaign_name,clicks,spent,currency
2026-11-19 00:00:00.0,2026-11-19 00:00:00.0,501,Native,7,12.5,USD\n`
const cm360 = `Date/Time Generated,11/20/26 11:13 AM\nReport Time Zone,Etc/UTC\n\nReport Fields\nCampaign,Campaign ID,Date,Media Cost
Brand,401,2026-11-19,10.50\nBrand,401,2026-11-20,"2,000.25"\nGrand Total:,---,---,2010.75\n`
const header = 'Day,Campaign ID,Cost\n'
const signs = `${header}2026-11-19,1,"$1,234.56"\n2026-11-19,2,US$0.44\n2026-11-20,2,-$5.00\n2026-11-21,2,1.00 USD\n`
const commas = 'Day;Campaign ID;Cost\n2026-11-19;1;1.234,56\n2026-11-19;2;"12,44"\n2026-11-20;2;1.250\n'
const spaces = 'Day;Campaign ID;Cost\n19.11.26;1;1\u00a0234,50 €\n20.11.26;1;0,50 €\n'
const blanks = `${header}2026-11-19,1,"1,010.50",\n,,\n2026-11-19,2,($4.50)\n2026-11-20,2,6.00-\n2026-11-20,,"1,000"\n`
const texts = `Day,Campaign ID,Cost\n2026-11-19,="401",2\n2026-11-19,402\t,3\n2026-11-19,'403,\n2026-11-19,404,n/a\n`
const returns = `${header}2026-11-19,1,5\n20-Nov-2026,1,7\n`.replaceAll('\n', '\r')
const dv360 = `Day,Campaign ID,Revenue (USD)\n2026/11/19,1,12\n2026/11/20,1,3\n,,15.000\n
Report Time:,2026/11/21 05:00 GMT\nGroup By:,Date\n"Numbers may change, and are final later."\n`
const parts =
  'Day,Campaign,Ad,Cost\n2026-11-19,A,a,1\n2026-11-19,A,b,2\n2026-11-19,A,Total,3\n2026-11-19,B,c,3\n2026-11-19,B,Subtotal,3\n2026-11-19,Gesamt: Konto,,7\n2026-11-19,Summe - x,,4\n2026-11-19,Gesamt-K,,4\n'
const ads = 'Day,Campaign ID,Ad ID,Cost\n2026-11-19,1,a,1\n,Total: Account,--,1\n,Total: Campaigns,--,1\n'
const currencies = 'Day,Campaign ID,Cost,currency\n2026-11-19,1,10,EUR\n2026-11-19,2,30,USD\n'
const mapping = (name: string, ...more: string[]) => ['--mapping', join(mappings, `${name}.json`), ...more]
const ofGoogle = mapping('google-ads', '--rates', 'EUR=1.5')
const ofMicrosoft = mapping('microsoft-advertising')
const ofMicrosoftPage = mapping('microsoft-advertising-page')
const inCommas = [...plain, '--decimal', 'comma']
const inEuro = [...inCommas, '--date-order', 'dmy', '--constant', 'currency=EUR', '--rates', 'EUR=2']

describe('a sheet in a form of a network goes in with the sum of its rows', () => {
  it.each<[form: string, sheet: string | Buffer, words: string[], cost: number, totals: number, name?: string]>([
    ['Google Ads with totals', googleTotals, ofGoogle, 1_650, 2],
    ['blank rows, ends of rows, credits', blanks, [...plain, '--decimal', 'point'], 1_000, 1],
    ['ids and amounts of spreadsheets', texts, [...unknown, '--hash-long-ids', '--values', 'cost:=0,cost:n/a=0'], 5, 0],
    ['UTF-16 without a mark, carriage returns', Buffer.from(returns, 'utf16le'), plain, 12, 0],
    ['DV360', dv360, ['--map', 'Day=spentAt,Campaign ID=campaignId,Revenue (USD)=cost', '--tz', 'UTC'], 15, 1],
    ['subtotals', parts, ['--map', 'Day=spentAt,Campaign=sub1,Ad=sub2,Cost=cost', '--tz', 'UTC'], 14, 3],
    ['Google Ads, compressed', gzipSync(googleTotals), ofGoogle, 1_650, 2, 'g.csv.gz'],
    ['Google Ads with days in totals', `${google}2026-11-19,Total,--,EUR,1060.25\n`, ofGoogle, 1_650, 1],
    ['Google Ads, tabs', google.replace(/,(?!0| 2)/g, '\t'), ofGoogle, 1_650, 0, 'google.tsv'],
    ['Microsoft Advertising', `${microsoft}\n"©2026 Microsoft Corporation."\n`, ofMicrosoft, 1_010, 0],
    ['Microsoft Advertising without a blank line', `${microsoft}"@2026 Microsoft"\n`, ofMicrosoft, 1_010, 0],
    ['Microsoft Advertising, reports page', `${microsoftPage}\n"©2026 Microsoft"\n`, ofMicrosoftPage, 1_010, 0],
    ['Meta, total first', `${metaHeader}2026-11-19,2026-11-20,,,300.00\n${metaRows}`, mapping('meta-ads'), 300, 1],
    ['TikTok', tiktok, mapping('tiktok-ads'), 62, 1],
    ['Taboola', taboola, mapping('taboola'), 12.5, 0],
    ['Campaign Manager 360', cm360, mapping('campaign-manager-360'), 2_010.75, 1],
    ['signs', signs, [...plain, '--decimal', 'point'], 1_231, 0],
    ['decimal commas', commas, inCommas, 2_497, 0],
    ['spaces, and signs after amounts', spaces, inEuro, 2_470, 0],
    ['two-digit years', `${header}11/19/26,1,10\n1/2/26,1,5\n`, [...plain, '--date-order', 'mdy'], 15, 0],
    ['two currencies', `${currencies}2026-11-19,3,10,GBP\n`, [...plain, '--rates', 'EUR=1.1,GBP=1.3'], 54, 0],
    ['totals of two currencies', `${currencies},,10,EUR\n,,30,USD\n`, [...plain, '--rates', 'EUR=1.1'], 41, 2],
    ['totals with ids of ads', ads, [...plain, '--map', 'Ad ID=id'], 1, 2],
    ['a line sep=', 'sep=;\nReport\nDay;Campaign ID;Cost\n2026-11-19;1;2.5\n', plain, 2.5, 0],
    ['negative rows', `${header}2026-11-19,1,-2.5\n2026-11-19,2,12.5\n2026-11-19,--,10.00\n`, plain, 10, 1],
  ])('%s', async (_, sheet, words, cost, totals, name) => {
    const { code, stdout, stderr } = await importing(sheet, [...words, '--strict', '--json'], name)
    expect([
      code,
      stderr.replace(/^(warning: (\d+ rows? |line \d+ \(Gesamt|subtotals ).*|lines? .*|Totals that .*)\n/gm, ''),
    ]).toEqual([0, ''])
    expect(JSON.parse(stdout).totals ?? 0).toBe(totals)
    expect(await sum()).toBeCloseTo(cost, 6)
  })

  it('is read by each mapping of the documentation', async () => {
    const names = (await readdir(mappings)).map((name) => name.replace('.json', ''))
    const page = await readFile(join(mappings, '../../imports.md'), 'utf8')
    expect(names.filter((name) => !page.includes(`${name}.json`))).toEqual([])
    expect(names).toHaveLength(7)
  })

  it('has the sum of random amounts in each form, with preambles, totals and ends', async () => {
    const amounts = fc.array(fc.integer({ min: -99_999, max: 99_999_999 }), { minLength: 1, maxLength: 12 })
    const words = [['point', 'comma'], ['', '$', 'USD'], ['', 'Total'], ['', '\n"(c) Network"\n']] as const // biome-ignore format: pairs
    const form = fc.tuple(amounts, fc.boolean(), fc.nat(18), ...words.map((all) => fc.constantFrom<string>(...all)))
    const property = fc.asyncProperty(form, async ([amounts, isCredit, preamble, decimal = '', mark, label, end]) => {
      account = await makeAccount(stores)
      const locale = decimal === 'point' ? 'en-US' : 'de-DE'
      const shown = (amount: number) => {
        const number = (Math.abs(amount) / 100).toLocaleString(locale, { minimumFractionDigits: 2 })
        const marked = mark === '$' ? `$${number}` : `${number} ${mark}`.trim()
        return amount < 0 ? (isCredit ? `(${marked})` : `-${marked}`) : marked
      }
      const sumOfAll = amounts.reduce((added, amount) => added + amount, 0)
      const rows = amounts.map((amount, at) => `2026-11-${10 + at},c${at},"${shown(amount)}"\n`)
      const sheet = `${'"a, b"\n'.repeat(preamble)}${header}${rows.join('')}${label},--,"${shown(sumOfAll)}"\n${end}`
      const { stdout } = await importing(sheet, [...plain, '--decimal', decimal, '--strict', '--json'])
      expect(JSON.parse(stdout)).toMatchObject({ inserted: amounts.length, totals: 1, rejected: 0 })
      expect(await sum()).toBe(sumOfAll / 100)
    })
    await fc.assert(property, { numRuns: 5 })
  })
})

describe('rows of totals', () => {
  const rows = 'Day,Campaign ID,Cost\n2026-11-19,1,60.25\n2026-11-19,2,39.75\n2026-11-20,1,1\n'

  it('that differ from the sum are named with both numbers, and not stored', async () => {
    const { code, stdout, stderr } = await importing(`${rows}2026-11-19,Total: Account,99.5\n`, plain)
    expect(code).toBe(0)
    expect(stdout).toContain('4 rows read: 3 inserted, 0 updated, 0 duplicates, 0 rejected, 1 totals.')
    expect(stderr).toContain('warning: line 5 (Total: Account) has 99.5, but the other rows have 101 USD.')
  })

  it('need the sum of their day or of all rows; any other row without a dimension is stored, with a warning', async () => {
    const sheet = `${rows}2026-11-19,--,100.00\n2026-11-20,,101.01\n2026-11-20,-,7\n`
    const { stdout, stderr } = await importing(sheet, plain)
    expect(stdout).toContain('6 rows read: 4 inserted, 0 updated, 0 duplicates, 0 rejected, 2 totals.')
    expect(stderr).toContain('Totals that agree with the sum of the other rows: 2, 100 USD.')
    expect(stderr).toContain('warning: rows without a dimension of --map are stored: 1, first line 7.')
    expect(await sum()).toBe(108)
  })

  it('are stored with --keep-totals, without a mapped dimension, and where no other row is', async () => {
    const total = `${rows}2026-11-19,,100.00\n`
    for (const [sheet, words] of [
      [total, [...plain, '--keep-totals']],
      [total.replace('Campaign ID', 'campaignId'), ['--map', 'Day=spentAt,Cost=cost', '--tz', 'UTC']],
      ['Day,Campaign ID,Cost\n2026-11-19,,0.01\n', plain],
    ] as const)
      expect((await importing(sheet, [...words, '--dry-run'])).stdout).toContain(', 0 rejected; nothing was stored.')
  })
})

describe('a reason names its remedy', () => {
  const reasonsOf = async (
    row: string,
    words: readonly string[] = unknown,
    header = 'Day,Campaign ID,Cost,currency,device,until',
  ) => (await importing(`${header}\n${row}\n2026-11-19,ok,1,USD,,\n`, [...words, '--dry-run'])).stderr

  it.each([
    ['2026-11-19,a,"12,50",USD,,', 'cost: must be a number (--decimal comma reads 12,50)'],
    ['2026-11-19,a,$12.50,USD,,', 'cost: must be a number (--decimal point reads $12.50)'],
    ['2026-11-19,a,--,USD,,', "cost: must be a number (--values 'cost:--=…' replaces it)"],
    ['2026-11-19,a,(12.50),USD,,', 'cost: must be a number (--decimal point reads (12.50))'],
    ['2026-11-19,a,,USD,,', "cost: is required (--values 'cost:=0' reads an empty cell as 0)"],
    ['2026-11-19,a,"1,250",USD,,', 'cost: must be a number (--decimal point or --decimal comma reads 1,250)'],
    [
      '2026-11-19,a,1,GBP,,',
      'costBase: is required, or exchangeRate, for an amount in GBP; --rates GBP=RATE gives one',
    ],
  ])('%s', async (row, reason) => {
    expect(await reasonsOf(row)).toContain(`  1 × ${reason}\n`)
  })

  it('for an amount whose sign or code is not that of its currency', async () => {
    const words = [...unknown, '--decimal', 'point']
    expect(await reasonsOf('2026-11-19,a,€12.50,USD,,', words)).toContain(
      'currency: is USD, but an amount has €; map or set the currency',
    )
    expect(await reasonsOf('2026-11-19,a,12.50 GBP,USD,,', words)).toContain('but an amount has GBP')
    const euro = ['--map', 'Day=spentAt,Spent (EUR)=cost', '--tz', 'UTC', '--dry-run']
    expect((await importing('Day,Spent (EUR)\n2026-11-19,1\n', euro)).stderr).toContain('is USD, but an amount has EUR')
    const bases = '2026-11-19,a,€12.50,EUR,,€13\n2026-11-19,a,€12.50,EUR,,$13\n'
    const { stderr } = await importing(`Day,Campaign ID,Cost,currency,device,costBase\n${bases}`, [
      ...words,
      '--dry-run',
    ])
    expect(stderr).toContain("  1 × costBase: has €, but must be an amount in the account's currency, USD\n")
  })

  it('for amounts with three decimals beside one that has a decimal comma', async () => {
    const sheet =
      'Day,Campaign ID,Cost\n2026-11-19,1,1.250\n2026-11-20,1,2.125\n2026-11-19,2,"12,50"\n2026-11-19,3,1.25\n'
    const { stderr, stdout } = await importing(sheet, plain)
    expect(stdout).toContain('1 inserted')
    expect(stderr).toContain('  2 × cost: 1.250 may be 1,250: --decimal\n      line 2: ')
  })

  it('for a row of several days', async () => {
    const words = [...unknown, '--map', 'until=spentUntil']
    expect(await reasonsOf('2026-11-01,a,300,USD,,2026-11-20', words)).toContain(
      'spentUntil: covers 20 days: export one row per day',
    )
    expect(await reasonsOf('2026-11-02,a,300,USD,,2026-11-01', words)).toContain('spentUntil: is before spentAt')
    const sheet = 'Day,until,Campaign ID,Cost\n2026-11-19T23:30:00Z,2026-11-20T01:00:00Z,1,5\n2026-11-19,,1,6\n'
    expect((await importing(sheet, words)).stdout).toContain('2 inserted')
  })

  it('for one exchange rate of two currencies, and for a header with too few columns', async () => {
    const rows = 'Day,Campaign ID,Cost,currency\n2026-11-19,1,1,EUR\n2026-11-19,1,1,GBP\n'
    const constant = await importing(rows, [...plain, '--constant', 'exchangeRate=1.1'])
    expectOneLine(constant, 1, 'amounts in EUR and GBP; instead of one exchangeRate use --rates EUR=RATE,GBP=RATE.')
    const replacing = ['--constant', 'trafficSourceId=g', '--replace-days', '--ignore-unknown']
    const ids = 'Day,Campaign ID,Cost,id\n2026-11-19,1,1,ad1\n'
    expectOneLine(await importing(ids, [...plain, ...replacing]), 1, 'has the column id or updatedAt')
    const campaigns = 'Day,Campaign ID,Cost,id\n2026-11-19,1,1,c1\n2026-11-20,1,1,c1\n'
    expectOneLine(await importing(campaigns, plain), 1, /line 3 has the id c1 .* must not set id \(--map id= for a/)
    expectOneLine(await importing('PK\u0003\u0004x\n', plain), 1, 'it is a workbook or .zip file; save the sheet as')
    const constantDay = ['--map', 'Cost=cost', '--constant', 'spentAt=2026-11-19', '--tz', 'UTC', ...replacing]
    expectOneLine(await importing(ids, constantDay), 2, 'map a column to spentAt')
    const sheet = 'Report\nDay,Spend\nx\nDay,Campaign ID,Spend\n2026-11-19,1,1\n'
    expectOneLine(await importing(sheet, unknown), 1, 'its header, line 4, has no column Cost.')
    const late = await importing(`${'x\n'.repeat(20)}${header}`, unknown)
    expectOneLine(late, 1, /has no column Day and no column/)
    expect((await importing(`a\nb,"\nDay,Campaign ID,Cost\n2026-11-19,1,1\n`, plain)).stderr).toContain(
      'lines 1 to 2 before the header were not read.',
    )
  })
})

it('a text of one cell that is not at the end, or without a blank line before it, is a rejected row', async () => {
  const sheet = 'Day,Campaign ID,Cost\n2026-11-19,1,1\n\nnote\n2026-11-20,1,1\ncut'
  expect((await importing(sheet, plain)).stdout).toContain(
    '4 rows read: 2 inserted, 0 updated, 0 duplicates, 2 rejected',
  )
})

it('amounts and signs are read in one form only, to the last digit', () => {
  expect(readWritten('1,234.56', 'comma')).toBeUndefined()
  expect(readWritten('1.234,56', 'point')).toBeUndefined()
  for (const text of ['1,23', '1,2345', '12,34,5', '1.2.3', '--1', '1e5', '$', '12%'])
    expect(readWritten(text, 'point'), text).toBeUndefined()
  expect(readWritten('12,34,567.891234', 'point')).toEqual({ plain: '1234567.891234', mark: '' })
  expect(readWritten("CHF 1'234.50", 'point')).toEqual({ plain: '1234.50', mark: 'CHF' })
  expect(
    ['$ CAD', 'CA$ CAD', 'kr. DKK', '￥ JPY', 'zł PLN', '€ EUR', '£ GBP', 'R$ BRL'].filter(
      (pair) => !isMarkOf(...(pair.split(' ') as [string, string])),
    ),
  ).toEqual([])
  expect(isMarkOf('US$', 'CAD') || isMarkOf('€', 'USD')).toBe(false)
})

it('--updated-at is the time of a sheet: an older one changes nothing, and without it replacing later rows is warned of', async () => {
  const sheet = (cost: number) => `Day,Campaign ID,Cost\n2026-11-19,1,${cost}\n`
  await importing(sheet(10), [...plain, '--updated-at', '2026-11-21T00:00:00Z'])
  expect((await importing(sheet(7), [...plain, '--updated-at', '2026-11-20T00:00:00Z'])).stdout).toContain('1 older')
  expect(await stored()).toEqual([['2026-11-19 00:00', '1', 10]])
  await writeFile(folder('old.csv'), sheet(8))
  await utimes(folder('old.csv'), 1_700_000_000, 1_700_000_000)
  const replace = () =>
    runHere(['import', 'costs', folder('old.csv'), '--account', account, ...plain], stores.environment)
  const { stdout, stderr } = await replace()
  expect(stdout).toContain('1 updated')
  expect(stderr).toMatch(
    /warning: the file is older than costs that it replaces, stored at 20.*; --updated-at gives its time\./,
  )
  expect((await replace()).stderr).not.toContain('the file is older')
})

it('a sheet that is older than the costs that become 0 is warned of, in a dry run too', async () => {
  const words = [...plain, '--constant', 'trafficSourceId=g', '--replace-days']
  await importing(`${header}2026-11-19,1,10\n2026-11-19,2,5\n`, words)
  await writeFile(folder('old.csv'), `${header}2026-11-19,1,10\n`)
  await utimes(folder('old.csv'), 1_700_000_000, 1_700_000_000)
  for (const [more, rows] of [
    [['--dry-run'], '1 stored costs, 5 in all, would become 0'],
    [['--updated-at', '2030-01-01T00:00:00Z', '--dry-run'], 'would become 0'],
    [[], '1 stored costs, 5 in all, became 0'],
  ] as const) {
    const of = ['import', 'costs', folder('old.csv'), '--account', account, ...words, ...more]
    const { stdout, stderr } = await runHere(of, stores.environment)
    expect(stdout).toContain(rows)
    expect(stderr.includes('the file is older than costs that it replaces')).toBe(
      !more.includes('--updated-at' as never),
    )
  }
  const again = ['import', 'costs', folder('old.csv'), '--account', account, ...words]
  expect((await runHere(again, stores.environment)).stderr).not.toContain('the file is older')
})

it('a pipe, which cannot be read twice, is refused; --keep-totals reads it once', async () => {
  const read = async (name: string, ...more: string[]) => {
    await promisify(execFile)('mkfifo', [folder(name)])
    const sheet = `${header}2026-11-19,1,10\nTotal,,10\n`
    const writing = promisify(execFile)('sh', ['-c', 'printf "%s" "$1" > "$2"', 'sh', sheet, folder(name)])
    const words = ['import', 'costs', folder(name), '--account', account, ...plain, ...more]
    const ended = await run(words, stores.environment)
    await writing.catch(() => {})
    return ended
  }
  const refusal = 'a CSV file of costs is read twice, so it must be a file; --keep-totals reads a pipe once.'
  expectOneLine(await read('refused.csv'), 1, refusal)
  expect((await read('kept.csv', '--keep-totals')).stdout).toContain('2 rows read: 1 inserted')
}, 60_000)

it('a dry run shows the first three rows as they would be stored', async () => {
  const rows = [1, 2, 3, 4].map((n) => `2026-11-19,${n},"$1,000.5${n}"\n`).join('')
  const { stderr } = await importing(`Day,Campaign ID,Cost\n${rows}`, [...plain, '--decimal', 'point', '--dry-run'])
  expect(stderr.match(/^line /gm)).toHaveLength(3)
  expect(stderr).toContain('line 2 as it would be stored: {"id":"')
  expect(stderr).toContain(',"campaignId":"1","cost":"1000.510000","currency":"USD","costBase":"1000.510000"}')
})

it('a mapping file is checked, and options beside it are added or count instead', async () => {
  const of = async (file: object, ...words: string[]) => {
    await writeFile(folder('mapping.json'), JSON.stringify(file))
    return await importing('Day,Cost\n2026-11-19,"1,5"\n', ['--mapping', folder('mapping.json'), ...words])
  }
  const file = { map: { Day: ['spentAt', 'sub1'], Cost: 'cost' }, tz: 'UTC', decimal: 'comma' }
  expectOneLine(await of({ ...file, decimals: 'comma' }), 2, /mapping\.json is no mapping: .* option '--decimals'/)
  expectOneLine(await of({ ...file, decimal: 'dot' }), 2, 'Allowed choices are point, comma.')
  expectOneLine(await of({ ...file, map: { Day: 'spendAt' } }), 2, 'spendAt is not a field of costs')
  expectOneLine(await of(file, '--rates', 'eur=1'), 2, '--rates must be three uppercase letters (ISO 4217).')
  expect((await of(file, '--constant', 'campaignId=a', '--tz', 'Europe/Berlin')).stdout).toContain('1 inserted')
  expect(await stored()).toEqual([['2026-11-19 00:00', 'a', 1.5]])
})
