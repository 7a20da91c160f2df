import type { RowOf } from '../../src/packages/client/client.ts'

// The answers of the files of docs/sql, computed from rows of the API without SQL. Columns are in the order of each file.

type Click = RowOf<'/clicks'>
type Conversion = RowOf<'/conversions'>
type Cost = RowOf<'/costs'>
type Event = RowOf<'/events'>

/** The rows of an account, tests and bots included. */
export interface Rows {
  clicks: readonly Click[]
  conversions: readonly Conversion[]
  costs: readonly Cost[]
  events: readonly Event[]
}

export type Cell = string | number | boolean | null

const [hourMs, dayMs] = [3_600_000, 86_400_000]

export function answersOf({ clicks, conversions, costs, events }: Rows, zones: ReadonlyMap<string, string>) {
  const human = clicks.filter(({ isBot, isTest }) => !isBot && !isTest)
  const counted = conversions.filter(({ isTest }) => !isTest)
  const approved = counted.filter(({ status }) => status === 'approved')
  const clicksOfVisitor = groups(human, (click) => click.visitorId ?? click.id)
  /** Clicks of the visitor of a conversion in the 30 days before it, oldest first. */
  const touchesOf = ({ visitorId, clickId, convertedAt }: Conversion) =>
    (clicksOfVisitor.get(visitorId ?? clickId ?? '') ?? [])
      .filter(({ clickedAt }) => clickedAt <= convertedAt && ms(clickedAt) > ms(convertedAt) - 30 * dayMs)
      .sort(by(({ clickedAt, id }) => clickedAt + id))

  const answers: Record<string, () => Cell[][]> = {
    conversion_delay() {
      const hours = approved
        .filter(({ convertedAt, clickedAt }) => isOctober(convertedAt) && clickedAt !== null)
        .map(({ convertedAt, clickedAt }) => (ms(convertedAt) - ms(clickedAt)) / hourMs)
      const names = ['before the click', 'under 1 hour', '1 to 6 hours', '6 to 24 hours', '1 to 7 days', '7 to 30 days']
      const ends = [0, 1, 6, 24, 168, 720, Number.POSITIVE_INFINITY]
      return [...names, 'over 30 days'].map((name, n) => {
        const before = hours.filter((hour) => hour < (ends[n - 1] ?? Number.NEGATIVE_INFINITY)).length
        const until = hours.filter((hour) => hour < (ends[n] ?? 0)).length
        return [name, until - before, percent(until - before, hours.length), percent(until, hours.length)]
      })
    },
    cohorts_by_click_day() {
      return days('2026-10', 31).map((day) => {
        const ofDay = human.filter(({ clickedAt }) => clickedAt.startsWith(day))
        const sales = approved.filter(({ clickedAt }) => clickedAt?.startsWith(day))
        const within = (count: number) =>
          revenueOf(sales.filter(({ convertedAt, clickedAt }) => ms(convertedAt) < ms(clickedAt) + count * dayMs))
        const spent = costs.filter(({ spentAt }) => spentAt.startsWith(day))
        const [cost, revenue] = [costOf(ofDay) + costOf(spent), revenueOf(sales)]
        return [day, ofDay.length, cost, sales.length, within(1), within(7), within(30), revenue, revenue - cost]
      })
    },
    attribution() {
      const credits = approved
        .filter(({ convertedAt }) => isOctober(convertedAt))
        .flatMap((sale) => {
          const touches = touchesOf(sale)
          const weights = touches.map(({ clickedAt }) => 0.5 ** ((ms(sale.convertedAt) - ms(clickedAt)) / (7 * dayMs)))
          const revenue = sale.revenueBase ?? 0
          if (touches.length === 0) return [{ id: null, name: null, parts: [revenue, revenue, revenue, revenue] }]
          return touches.map(({ campaignId, campaignName }, n) => ({
            id: campaignId,
            name: campaignName,
            parts: [
              n === 0 ? revenue : 0,
              n === touches.length - 1 ? revenue : 0,
              revenue / touches.length,
              (revenue * (weights[n] ?? 0)) / weights.reduce((total, weight) => total + weight),
            ],
          }))
        })
      return [...groups(credits, ({ id }) => `${id}`).values()].map((ofCampaign) => [
        ofCampaign[0]?.id ?? null,
        ofCampaign[0]?.name ?? null,
        ...[0, 1, 2, 3].map((model) => ofCampaign.reduce((total, { parts }) => total + (parts[model] ?? 0), 0)),
      ])
    },
    ab_test() {
      const pageOf = (id: string) => {
        const ofPage = human.filter(
          ({ landingPageId, campaignId, clickedAt }) =>
            landingPageId === id && campaignId === 'cmp-luma-meta-broad' && isBefore(clickedAt, '2026-09-01'),
        )
        const sold = new Set(approved.map(({ clickId }) => clickId))
        const converted = ofPage.filter((click) => sold.has(click.id)).length
        return { clicks: ofPage.length, converted, rate: converted / ofPage.length }
      }
      const [control, other] = [pageOf('lp-luma-story'), pageOf('lp-luma-quiz')]
      const difference = other.rate - control.rate
      const variance = (rate: number, count: number) => (rate * (1 - rate)) / count
      const error = Math.sqrt(variance(other.rate, other.clicks) + variance(control.rate, control.clicks))
      const pooled = (other.converted + control.converted) / (other.clicks + control.clicks)
      const z = difference / Math.sqrt(variance(pooled, other.clicks) + variance(pooled, control.clicks))
      return [
        ['lp-luma-story', control.clicks, control.converted, control.rate * 100, null, null, null, null, null],
        [
          'lp-luma-quiz',
          other.clicks,
          other.converted,
          other.rate * 100,
          difference * 100,
          (difference - 1.96 * error) * 100,
          (difference + 1.96 * error) * 100,
          z,
          Math.abs(z) >= 1.96,
        ],
      ]
    },
    bot_share() {
      const ofMonth = clicks.filter(({ clickedAt, isTest }) => isOctober(clickedAt) && !isTest)
      return [...groups(ofMonth, ({ trafficSourceId }) => `${trafficSourceId}`).values()].map((ofSource) => {
        const bots = ofSource.filter(({ isBot }) => isBot)
        const { trafficSourceId = null, trafficSourceName = null } = ofSource[0] ?? {}
        const share = percent(bots.length, ofSource.length)
        return [trafficSourceId, trafficSourceName, ofSource.length, bots.length, share, costOf(bots)]
      })
    },
    revenue_by_status() {
      const ofMonth = counted.filter(({ convertedAt }) => isOctober(convertedAt))
      return [...groups(ofMonth, ({ offerId }) => `${offerId}`).values()].map((ofOffer) => {
        const of = (...statuses: string[]) => ofOffer.filter(({ status }) => statuses.includes(`${status}`))
        const amounts = [of('approved'), of('pending', 'hold'), of('declined'), of('refunded'), of('chargeback')]
        const { offerId = null, offerName = null } = ofOffer[0] ?? {}
        return [offerId, offerName, of('approved').length, ...amounts.map(revenueOf)]
      })
    },
    retention_by_week() {
      const known = human.filter(({ visitorId }) => visitorId !== null)
      const weeks = [...groups(known, ({ visitorId }) => visitorId).values()].map(
        (ofVisitor) => new Set(ofVisitor.map(({ clickedAt }) => mondayOf(clickedAt))),
      )
      return [...groups(weeks, (ofVisitor) => Math.min(...ofVisitor))].map(([first, visitors]) => [
        new Date(first).toISOString().slice(0, 10),
        ...[0, 1, 2, 3, 4].map((n) => visitors.filter((seen) => seen.has(first + n * 7 * dayMs)).length),
      ])
    },
    journeys_before_purchase() {
      const purchases = approved.filter(
        ({ convertedAt, eventName, visitorId }) => isOctober(convertedAt) && eventName === 'purchase' && visitorId,
      )
      const steps = [
        ...human.map(({ visitorId, clickedAt, trafficSourceName }) => ({
          visitorId,
          time: clickedAt,
          step: trafficSourceName ?? '(not set)',
        })),
        ...events.map(({ visitorId, occurredAt, eventName }) => ({ visitorId, time: occurredAt, step: eventName })),
      ]
      const stepsOf = groups(steps, ({ visitorId }) => visitorId)
      const journeys = purchases.map((sale) => ({
        sale,
        journey: (stepsOf.get(sale.visitorId) ?? [])
          .filter(({ time }) => time < sale.convertedAt && ms(time) > ms(sale.convertedAt) - 30 * dayMs)
          .sort(by(({ time, step }) => time + step))
          .map(({ step }) => step)
          .join(' > '),
      }))
      return [...groups(journeys, ({ journey }) => journey)].map(([journey, same]) => [
        journey || '(nothing)',
        same.length,
        revenueOf(same.map(({ sale }) => sale)),
      ])
    },
    refunds_by_age() {
      const sales = counted.filter(
        ({ status, convertedAt }) =>
          ['approved', 'refunded', 'chargeback'].includes(`${status}`) && isBefore(convertedAt, '2026-09-01'),
      )
      const names = ['under 7 days', '7 to 14 days', '14 to 30 days', '30 to 60 days', 'over 60 days']
      const ends = [Number.NEGATIVE_INFINITY, 7, 14, 30, 60, Number.POSITIVE_INFINITY]
      return names.map((name, n) => {
        const ofAge = sales.filter(({ status, convertedAt, updatedAt }) => {
          const age = (ms(updatedAt) - ms(convertedAt)) / dayMs
          return status !== 'approved' && age >= (ends[n] ?? 0) && age < (ends[n + 1] ?? 0)
        })
        const refunds = ofAge.filter(({ status }) => status === 'refunded').length
        return [name, refunds, ofAge.length - refunds, revenueOf(ofAge), percent(ofAge.length, sales.length)]
      })
    },
    duplicates_across_campaigns() {
      const sales = approved.filter(({ convertedAt, transactionId }) => isOctober(convertedAt) && transactionId)
      return [...groups(sales, ({ transactionId }) => transactionId)].flatMap(([transactionId, same]) => {
        const campaigns = groups(same, ({ campaignId }) => campaignId ?? '(not set)')
        if (campaigns.size === 1) return []
        const revenue = revenueOf(same)
        const largest = Math.max(...[...campaigns.values()].map(revenueOf))
        const names = [...campaigns.keys()].sort().join(', ')
        return [[transactionId, campaigns.size, names, same.length, revenue, revenue - largest]]
      })
    },
    ltv_by_coupon() {
      const sales = [...approved].sort(by(({ convertedAt, id }) => convertedAt + id))
      const customers = [...groups(sales, ({ visitorId, clickId, id }) => visitorId ?? clickId ?? id).values()]
        .filter(([first]) => first?.convertedAt.startsWith('2026-09'))
        .map((all) => all.filter(({ convertedAt }) => ms(convertedAt) < ms(all[0]?.convertedAt) + 90 * dayMs))
      return [...groups(customers, ([first]) => first?.couponCode ?? null)].map(([coupon, same]) => {
        const revenue = revenueOf(same.flat())
        const returning = same.filter(({ length }) => length > 1).length
        const shares = [revenue / same.length, percent(returning, same.length)]
        return [coupon, same.length, same.flat().length, revenue, ...shares]
      })
    },
    hour_of_day() {
      const hourIn = new Map(
        [...new Set(['UTC', ...zones.values()])].map((timeZone) => [
          timeZone,
          new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', hourCycle: 'h23' }),
        ]),
      )
      const hourOf = (country: string | null, time: string) =>
        Number(hourIn.get(zones.get(country ?? '') ?? 'UTC')?.format(ms(time)))
      const clicked = human.filter(({ clickedAt }) => isOctober(clickedAt))
      const sold = approved.filter(({ convertedAt }) => isOctober(convertedAt))
      return Array.from({ length: 24 }, (_, hour) => {
        const ofHour = clicked.filter(({ country, clickedAt }) => hourOf(country, clickedAt) === hour).length
        const sales = sold.filter(({ country, convertedAt }) => hourOf(country, convertedAt) === hour)
        return [hour, ofHour, sales.length, revenueOf(sales), percent(sales.length, ofHour)]
      })
    },
    rows_behind_a_number() {
      return conversions
        .filter(({ campaignId, convertedAt }) => campaignId === 'cmp-pixelforge-push' && isOctober(convertedAt))
        .map(({ id, convertedAt, eventName, status, offerName, revenueBase, isTest }) => {
          const names = new Map([
            ['approved', 'conversions'],
            ['chargeback', 'refundedConversions'],
          ])
          const countsAs = isTest ? 'nothing: test' : (names.get(`${status}`) ?? `${status}Conversions`)
          return [id, convertedAt, eventName, status, offerName, revenueBase, countsAs]
        })
    },
    top_offers_by_country() {
      const names = new Intl.DisplayNames('en', { type: 'region' })
      const sales = approved.filter(({ convertedAt }) => isOctober(convertedAt))
      return [...groups(sales, ({ country }) => country)].flatMap(([country, ofCountry]) => {
        const offers = [...groups(ofCountry, ({ offerId }) => offerId).values()]
        return offers.flatMap((same) => {
          const place = 1 + offers.filter((others) => revenueOf(others) > revenueOf(same)).length
          const { offerId = null, offerName = null } = same[0] ?? {}
          const name = country && names.of(country)
          return place <= 3 ? [[country, name ?? null, place, offerId, offerName, same.length, revenueOf(same)]] : []
        })
      })
    },
  }
  return answers
}

const ms = (time: string | null | undefined) => Date.parse(`${time}`)
const isOctober = (time: string) => time.startsWith('2026-10')
/** Whether a time is before November, and not before a day. */
const isBefore = (time: string, from: string) => time >= from && time < '2026-11'
const percent = (part: number, all: number) => (part * 100) / all
const days = (month: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${month}-${String(n + 1).padStart(2, '0')}`)

function mondayOf(time: string): number {
  const day = Math.floor(ms(time) / dayMs)
  // 1970-01-01 was a Thursday.
  return (day - ((day + 3) % 7)) * dayMs
}

/** The exact sum of amounts, which have at most six decimals. */
function sum<Row>(rows: readonly Row[], amountOf: (row: Row) => number | null): number {
  return Number(rows.reduce((total, row) => total + (amountOf(row) ?? 0), 0).toFixed(6))
}

const revenueOf = (rows: readonly Conversion[]) => sum(rows, ({ revenueBase }) => revenueBase)
const costOf = (rows: readonly Pick<Click, 'costBase'>[]) => sum(rows, ({ costBase }) => costBase)

function groups<Row, Key>(rows: readonly Row[], keyOf: (row: Row) => Key): Map<Key, Row[]> {
  const found = new Map<Key, Row[]>()
  for (const row of rows) {
    const key = keyOf(row)
    const group = found.get(key)
    if (group) group.push(row)
    else found.set(key, [row])
  }
  return found
}

const by =
  <Row>(textOf: (row: Row) => string) =>
  (one: Row, other: Row) =>
    textOf(one) < textOf(other) ? -1 : 1
