// Prints campaigns by country, one day against the day before, yesterday by default:
// TRIBUTARY_URL=… TRIBUTARY_KEY=… node docs/examples/drilldown.mjs [TIME_ZONE] [DATE]
import { createTributary } from 'tributary-client'

const { TRIBUTARY_URL: baseUrl = 'http://127.0.0.1:3000', TRIBUTARY_KEY: apiKey = '' } = process.env
const [tz = 'UTC', date = dayBefore(new Intl.DateTimeFormat('sv-SE', { timeZone: tz }).format())] =
  process.argv.slice(2)

const { data, totals, previous, currency, bucketCount } = await createTributary({ baseUrl, apiKey }).get('/reports', {
  query: {
    group_by: ['campaign', 'country'],
    from: date,
    to: date,
    tz,
    compare: 'previous_period',
    sort: '-cost',
    limit: 20,
  },
})
const rows = [
  ...data.map(({ dimensions, ...row }) => [
    dimensions.campaign.name ?? dimensions.campaign.id,
    dimensions.country.id,
    ...cells(row, row.previous),
  ]),
  [`Total of ${bucketCount}`, '', ...cells(totals, previous.totals ?? {})],
]
console.log(`${date} against ${dayBefore(date)}, ${tz}, ${currency}`)
print(
  ['Campaign', 'Country', 'Clicks', '', 'Conv.', '', 'Cost', 'Revenue', 'Profit', 'Profit before', 'ROI', 'EPC'],
  rows,
)

function cells(now, before) {
  return [
    now.clicks.toLocaleString('en'),
    change(now.clicks, before.clicks),
    now.conversions.toLocaleString('en'),
    change(now.conversions, before.conversions),
    ...[now.cost, now.revenue, now.profit, before.profit].map(money),
    now.roi === null ? '–' : `${now.roi.toFixed(1)}%`,
    now.epc === null ? '–' : now.epc.toFixed(3),
  ]
}

function change(now, before) {
  if (!before) return '–'
  const percent = Math.round((now / before - 1) * 100)
  return percent > 0 ? `+${percent}%` : `${percent || 0}%`
}

function money(amount) {
  return amount?.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 }) ?? '–'
}

function dayBefore(day) {
  return new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10)
}

/** Texts on the left, numbers on the right. */
function print(head, rows) {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column].length)))
  for (const row of [head, ...rows]) {
    console.log(row.map((cell, n) => (n < 2 ? cell.padEnd(widths[n]) : cell.padStart(widths[n]))).join('  '))
  }
}
