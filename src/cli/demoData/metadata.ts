import { dayMs } from '../../stores/timing/units.ts'
import campaigns from './tables/campaigns.json' with { type: 'json' }
import landingPages from './tables/landingPages.json' with { type: 'json' }
import offers from './tables/offers.json' with { type: 'json' }
import sources from './tables/sources.json' with { type: 'json' }
import { type Demo, rowOf, timeText, todayOf } from './visits.ts'

/** Creation time of the first entity, long before the window; the others follow. */
const firstMs = Date.UTC(2024, 0, 8, 9)

function* entityRows(table: Record<string, { row: object }>) {
  for (const [index, [id, { row }]] of Object.entries(table).entries()) {
    const createdAt = timeText(firstMs + index * 9 * dayMs)
    yield { id, status: 'active', createdAt, updatedAt: createdAt, ...row }
  }
}

export const trafficSourceRows = () => entityRows(sources)
export const landingPageRows = () => entityRows(landingPages)
export const offerRows = () => entityRows(offers)

export function* campaignRows(demo: Demo) {
  // Weeks begin on Sunday.
  const week = Math.floor((todayOf(demo) + 4) / 7)
  for (const campaign of entityRows(campaigns)) {
    const { weeks, row } = rowOf(campaigns, campaign.id)
    const isOn = weeks[week % weeks.length] !== 0
    const status = isOn ? 'active' : row.tags.some((tag) => tag === 'test') ? 'archived' : 'paused'
    yield {
      ...campaign,
      status,
      ...(weeks.some((share) => share === 0) && { updatedAt: timeText((7 * week - 4) * dayMs) }),
    }
  }
}
