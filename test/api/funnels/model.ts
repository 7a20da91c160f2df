import type { FunnelResponse } from '../../../schema/funnel.ts'

// A plain computation of funnels over the rows of one account, to compare with.

type Texts<Names extends string> = Readonly<Record<Names, string>>

export interface ModelRows {
  clicks: readonly (Texts<
    'id' | 'clicked_at' | 'visitor_id' | 'campaign_id' | 'country' | 'device' | 'traffic_source_id'
  > & {
    is_bot: boolean
    is_test: boolean
  })[]
  events: readonly Texts<'id' | 'origin' | 'occurred_at' | 'event_name' | 'click_id' | 'visitor_id' | 'campaign_id'>[]
  conversions: readonly (Texts<
    'id' | 'converted_at' | 'status' | 'click_id' | 'visitor_id' | 'campaign_id' | 'country'
  > & { is_test: boolean })[]
}

export interface ModelQuery {
  steps: string
  by: 'visitor' | 'click'
  windowMs: number
  fromMs: number
  untilMs: number
  group_by?: string
  /** `DE,FR` or `!DE` */
  country?: string
  campaign_id?: string
}

type Groups = { id: string; steps: FunnelResponse['steps'] }[]

interface Row {
  unit: string
  atMs: number
  step: string
  attributes: Record<string, string>
}

interface Chain {
  /** Epoch milliseconds of each step that was reached. */
  times: number[]
  group: string
}

export function modelFunnel(rows: ModelRows, query: ModelQuery): { steps: FunnelResponse['steps']; data?: Groups } {
  const steps = query.steps
    .split(',')
    .map((step) => (/^(click|conversion)$/.test(step) ? step : step.replace(/^(event:)?/, 'event:')))
  const labels = [...new Set(steps)]
  const units = groupBy(
    rowsOf(rows, query.by).filter(({ step, unit }) => labels.includes(step) && unit !== ''),
    ({ unit }) => unit,
  )
  const chains = [...units.values()].flatMap((unit) => {
    const isNoStart = (row: Row) => Number(!canStart(row, query))
    const sorted = unit.toSorted(
      (a, b) => a.atMs - b.atMs || labels.indexOf(a.step) - labels.indexOf(b.step) || isNoStart(a) - isNoStart(b),
    )
    return chainOf(sorted, steps, query) ?? []
  })
  const data = query.group_by && groupsOf(chains, query.steps.split(','))
  return { steps: stepsOf(chains, query.steps.split(',')), ...(data && { data }) }
}

function rowsOf({ clicks, events, conversions }: ModelRows, by: ModelQuery['by']): Row[] {
  const clickById = new Map(clicks.map((click) => [click.id, click]))
  const unitOf = (visitor: string, click: string) => {
    if (by === 'click') return click && `click ${click}`
    return visitor ? `visitor ${visitor}` : click && `click ${click}`
  }
  const at = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`)
  const ofClick = (id: string) => {
    const { campaign_id = '', country = '', device = '', traffic_source_id = '' } = clickById.get(id) ?? {}
    return { campaign: campaign_id, country, device, traffic_source: traffic_source_id }
  }
  return [
    ...clicks
      .filter(({ is_bot, is_test }) => !is_bot && !is_test)
      .map((row) => ({
        unit: unitOf(row.visitor_id, row.id),
        atMs: at(row.clicked_at),
        step: 'click',
        attributes: ofClick(row.id),
      })),
    ...events
      .filter(({ click_id }) => !clickById.get(click_id)?.is_bot && !clickById.get(click_id)?.is_test)
      .map((row) => {
        const attributes = ofClick(row.click_id)
        return {
          unit: unitOf(row.visitor_id || (clickById.get(row.click_id)?.visitor_id ?? ''), row.click_id),
          atMs: at(row.occurred_at),
          step: `event:${row.event_name}`,
          attributes: { ...attributes, campaign: row.campaign_id || attributes.campaign },
        }
      }),
    ...conversions
      .filter(({ status, is_test }) => status === 'approved' && !is_test)
      .map((row) => ({
        unit: unitOf(row.visitor_id, row.click_id),
        atMs: at(row.converted_at),
        step: 'conversion',
        attributes: { campaign: row.campaign_id, country: row.country, device: '', traffic_source: '' },
      })),
  ]
}

/** Tries every row of the first step and always takes the next row of the following one. */
function chainOf(sorted: readonly Row[], steps: readonly string[], query: ModelQuery): Chain | undefined {
  const starts = sorted.flatMap((row, index) => (row.step === steps[0] && canStart(row, query) ? [index] : []))
  let best: Chain | undefined
  for (const start of starts) {
    const { atMs } = sorted[start] as Row
    const times = [atMs]
    let position = start
    for (const step of steps.slice(1)) {
      position = sorted.findIndex((row, index) => index > position && row.step === step)
      const next = sorted[position]
      if (!next || next.atMs > atMs + query.windowMs) break
      times.push(next.atMs)
    }
    if (times.length > (best?.times.length ?? 0)) best = { times, group: '' }
  }
  if (!best) return undefined
  const groups = starts
    .map((start) => sorted[start] as Row)
    .filter(({ atMs }) => atMs === best.times[0])
    .map(({ attributes }) => attributes[query.group_by ?? ''] ?? '')
  return { ...best, group: groups.toSorted()[0] ?? '' }
}

function canStart({ atMs, attributes }: Row, { fromMs, untilMs, country, campaign_id }: ModelQuery): boolean {
  if (atMs < fromMs || atMs >= untilMs) return false
  return matches(attributes.country ?? '', country) && matches(attributes.campaign ?? '', campaign_id)
}

function matches(value: string, filter: string | undefined): boolean {
  if (filter === undefined) return true
  const isExcluded = filter.startsWith('!')
  const values = filter.replace('!', '').split(',')
  return values.includes(value === '' ? '(not set)' : value) !== isExcluded
}

function stepsOf(chains: readonly Chain[], steps: readonly string[]): FunnelResponse['steps'] {
  const reached = (step: number) => chains.filter(({ times }) => times.length > step)
  const percent = (part: number, whole: number) => (whole === 0 ? null : Math.round((part / whole) * 1e8) / 1e6)
  return steps.map((step, index) => {
    const gaps = reached(index)
      .map(({ times }) => (times[index] as number) - (times[index - 1] ?? 0))
      .toSorted((a, b) => a - b)
    const middle = (gaps.length - 1) / 2
    const median = ((gaps[Math.floor(middle)] ?? 0) + (gaps[Math.ceil(middle)] ?? 0)) / 2
    return {
      step,
      entered: gaps.length,
      fromPrevious: index === 0 ? null : percent(gaps.length, reached(index - 1).length),
      fromFirst: percent(gaps.length, reached(0).length),
      medianSeconds: index === 0 || gaps.length === 0 ? null : median / 1000,
    }
  })
}

function groupsOf(chains: readonly Chain[], steps: readonly string[]): Groups {
  return [...groupBy(chains, ({ group }) => group || '(not set)')]
    .map(([id, some]) => ({ id, steps: stepsOf(some, steps) }))
    .toSorted((a, b) => (b.steps[0]?.entered ?? 0) - (a.steps[0]?.entered ?? 0) || (a.id < b.id ? -1 : 1))
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}
