import { noDataBefore } from './comparedText.ts'
import { Button } from './controls.tsx'
import { dateIn } from './dates.ts'
import { hasNumbers } from './metrics.ts'
import { type Loaded, useGet, useSession } from './request.ts'
import type { Daily, Overview } from './seriesValues.ts'
import type { PanelProps, View } from './view.ts'

/**
 * Why a range has no numbers. `firstDate`: of the first row of the account, if the range or the one that it is compared with begins without
 * numbers; else empty.
 */
export type Emptiness = { text: string; firstDate: string }

/** Reads the first rows of the account if a view or its series begins with zeros. */
export function useEmptiness(view: View, overview: Loaded<Overview>, daily: Loaded<Daily>): Emptiness {
  const { key } = useSession()
  const isEmpty = overview.phase === 'ready' && !hasNumbers(overview.data.totals)
  const [start] = daily.phase === 'ready' ? daily.data.data : []
  const beginsEmpty = start && !(hasNumbers(start) && (!start.previous || hasNumbers(start.previous)))
  const query = isEmpty || beginsEmpty ? { order: 'asc' as const, limit: 1 } : undefined
  const clicks = useGet('/clicks', query && { ...query, is_bot: false, is_test: false })
  const conversions = useGet('/conversions', query)
  const isKnown = clicks.phase === 'ready' && conversions.phase === 'ready'
  const times = isKnown ? [clicks.data.data[0]?.clickedAt, conversions.data.data[0]?.convertedAt] : []
  const [first] = times.filter((time) => time !== undefined).sort()
  const firstDate = first ? dateIn(view.tz, Date.parse(first)) : ''
  if (view.filters.length > 0) return { text: 'No clicks and conversions in this range with these filters.', firstDate }
  if (isEmpty && isKnown && !first && !key.filters) {
    const demo = `tributary demo --account ${key.accountId}`
    return { text: `The account has no clicks and no conversions. Import files, or run: ${demo}`, firstDate }
  }
  const isBefore = first && overview.phase === 'ready' && overview.data.to <= first
  const text = isBefore ? noDataBefore(firstDate) : 'No clicks and conversions in this range.'
  return { text, firstDate }
}

/** The text of an empty panel, and a button that removes the filters if there are any. */
export const Empty = ({ text, view, onChange }: PanelProps & { text: string }) => (
  <>
    {text} {view.filters.length > 0 && <Button onClick={() => onChange({ filters: [] })}>Clear filters</Button>}
  </>
)
