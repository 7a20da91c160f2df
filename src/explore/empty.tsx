import { noDataBefore } from './comparedText.ts'
import { Button } from './controls.tsx'
import { dateIn } from './dates.ts'
import { hasNumbers } from './metrics.ts'
import { CopyButton } from './notes.tsx'
import { baseUrl, type Loaded, useGet, useSession } from './request.ts'
import type { Daily, Overview } from './seriesValues.ts'
import type { PanelProps, View } from './view.ts'

/**
 * Why a range has no numbers. `isNew`: the account has no clicks and no conversions at all. `firstDate`: of the first row of the account,
 * if the range or the one that it is compared with begins without numbers; else empty.
 */
export type Emptiness = { text: string; isNew: boolean; firstDate: string }

/** Reads the first rows of the account if a view or its series begins with zeros. */
export function useEmptiness(view: View, overview: Loaded<Overview>, daily: Loaded<Daily>): Emptiness {
  const { key } = useSession()
  const isEmpty = overview.phase === 'ready' && !hasNumbers(overview.data.totals)
  const [start] = daily.phase === 'ready' ? daily.data.data : []
  const beginsEmpty = start && !(hasNumbers(start) && (!start.previous || hasNumbers(start.previous)))
  const query = isEmpty || beginsEmpty ? { order: 'asc' as const, limit: 1 } : undefined
  const clicks = useGet('/clicks', query && { ...query, is_bot: false, is_test: false }, ['read:clicks'])
  const conversions = useGet('/conversions', query, ['read:conversions'])
  const isKnown = clicks.phase === 'ready' && conversions.phase === 'ready'
  const times = isKnown ? [clicks.data.data[0]?.clickedAt, conversions.data.data[0]?.convertedAt] : []
  const [first] = times.filter((time) => time !== undefined).sort()
  const firstDate = first ? dateIn(view.tz, Date.parse(first)) : ''
  if (view.filters.length > 0)
    return { text: 'No clicks and conversions in this range with these filters.', isNew: false, firstDate }
  if (isEmpty && isKnown && !first && !key.filters)
    return { text: 'The account has no clicks and no conversions.', isNew: true, firstDate }
  const isBefore = first && overview.phase === 'ready' && overview.data.to <= first
  const text = isBefore ? noDataBefore(firstDate) : 'No clicks and conversions in this range.'
  return { text, isNew: false, firstDate }
}

/** The text of an empty panel, and a button that removes the filters if there are any. */
export function Empty({ text, view, onChange }: PanelProps & { text: string }) {
  if (view.filters.length === 0) return text
  return (
    <>
      {text} <Button onClick={() => onChange({ filters: [] })}>Clear filters</Button>
    </>
  )
}

/** The first commands of an account without rows. */
export function FirstSteps() {
  const { key } = useSession()
  const account = `--account ${key.accountId}`
  const imports = ['campaigns', 'clicks', 'conversions'].map(
    (name) => `tributary import ${name} ${name}.csv ${account}`,
  )
  const event = '{"click_id":"c-1","event_name":"signup","event_id":"event-1"}'
  const header = '-H "Authorization: ApiKey $TRIBUTARY_KEY" -H "Content-Type: application/json"'
  const commands = {
    'On the server, import files:': imports.join(' &&\n'),
    'Or fill the account with made-up rows:': `tributary demo ${account}`,
    'Send an event of a click, with a key that has the scope write:events:': `curl -s ${header} -d '${event}' '${baseUrl}/api/v1/events'`,
  }
  return (
    <section class="panel first-steps" aria-label="First steps">
      <h2>The account has no clicks and no conversions</h2>
      {Object.entries(commands).map(([title, text]) => (
        <div key={title}>
          <p>{title}</p>
          <pre>{text}</pre>
          <CopyButton text={text} done="Copied.">
            Copy
          </CopyButton>
        </div>
      ))}
    </section>
  )
}
