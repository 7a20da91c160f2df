import { endOf } from './comparedText.ts'
import { Problem } from './controls.tsx'
import { formatMoment, formatUnit } from './format.ts'
import { useGet } from './request.ts'
import type { Overview } from './seriesValues.ts'

const hourMs = 3_600_000
const weekMs = 168 * hourMs
/** An account with fewer clicks in two hours may have none in the next two. */
const expectedClicks = 20

/** Up to when the account has clicks, and other facts that end before the range does, and a warning if they seem to have stopped. */
export function Freshness({ overview, zone }: { overview: Overview; zone: string }) {
  const { asOf, dataThrough } = overview
  const clicks = dataThrough?.clicks ?? null
  const untilMs = Math.floor(Date.parse(asOf) / hourMs) * hourMs
  const isSilent = clicks !== null && Date.parse(clicks) < untilMs - 2 * hourMs
  const weekBefore = (epochMs: number) => new Date(epochMs - weekMs).toISOString()
  const week = { from: weekBefore(untilMs - 2 * hourMs), to: weekBefore(untilMs) }
  const before = useGet('/stats/overview', isSilent ? week : undefined)
  const expected = isSilent ? (before.data?.totals.clicks ?? 0) : 0
  const warning = `No click in the last two full hours. The same hours a week ago had ${expected.toLocaleString()}.`
  const ends = (['conversions', 'costs'] as const).map((fact) => {
    const end = endOf(fact, overview)
    return end && `${fact} up to ${formatUnit(end, false, '')}`
  })
  return (
    <span class="hint">
      {[clicks && `Clicks up to ${formatMoment(clicks, zone)}`, ...ends].filter(Boolean).join(', ')}{' '}
      <Problem text={expected < expectedClicks ? '' : warning} />
    </span>
  )
}
