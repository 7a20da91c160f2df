// A plain computation of journeys over the rows of one account, to compare with.

export interface Rows {
  clicks: readonly { id: string; clicked_at: string; visitor_id: string }[]
  events: readonly {
    id: string
    origin: string
    generation: number
    occurred_at: string
    received_at: string
    click_id: string
    visitor_id: string
  }[]
  conversions: readonly { id: string; converted_at: string; click_id: string; visitor_id: string }[]
}

/** @param of `visitor_id=v1` or `click_id=c1` @returns the rows of a journey in order: kind, time, and the key of the row */
export function journeyOf({ clicks, events, conversions }: Rows, of: string): string[] {
  const [parameter, id = ''] = of.split('=')
  const isVisitor = parameter === 'visitor_id'
  const ofClicks = clicks.filter((click) => (isVisitor ? click.visitor_id === id : click.id === id))
  const clickIds = isVisitor ? ofClicks.map((click) => click.id) : [id]
  const belongs = (row: { click_id: string; visitor_id: string }) =>
    clickIds.includes(row.click_id) || (isVisitor && row.visitor_id === id)
  const instant = (text: string) => `${text.replace(' ', 'T')}Z`

  const kept = new Map<string, Rows['events'][number]>()
  for (const event of events) {
    const name = `${event.origin} ${event.id} ${event.generation}`
    const known = kept.get(name)
    if (!known || event.received_at <= known.received_at) kept.set(name, event)
  }
  const latest = new Map(conversions.map((conversion) => [conversion.id, conversion]))
  const rows = [
    ...ofClicks.map((row) => ({ at: instant(row.clicked_at), rank: 0, kind: 'click', key: [row.id] })),
    ...[...kept.values()].filter(belongs).map((row) => ({
      at: instant(row.occurred_at),
      rank: 1,
      kind: 'event',
      key: [row.origin, row.id, String(row.generation)],
    })),
    ...[...latest.values()].filter(belongs).map((row) => ({
      at: instant(row.converted_at),
      rank: 2,
      kind: 'conversion',
      key: [row.id],
    })),
  ]
  const textOf = ({ at, rank, key }: (typeof rows)[number]) => [at, rank, ...key].join('\0')
  return rows
    .toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1))
    .map(({ kind, at, key }) => [kind, at, ...key].join(' '))
}
