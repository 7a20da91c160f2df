import type { ResponseOf } from '../packages/client/client.ts'
import { Button } from './controls.tsx'
import { formatDate } from './format.ts'
import { hasNumbers } from './metrics.ts'
import { CopyButton } from './notes.tsx'
import { baseUrl, type Loaded, useGet, useSession } from './request.ts'
import type { PanelProps, View } from './view.ts'

/** Why a range has no numbers. `isNew`: the account has no clicks and no conversions at all. */
export type Emptiness = { text: string; isNew: boolean }

/** Reads the first rows of the account if the totals of a view are zero. */
export function useEmptiness(view: View, overview: Loaded<ResponseOf<'/stats/overview'>>): Emptiness {
  const hasFilter = Object.keys(view.filters).length > 0
  const isEmpty = overview.phase === 'ready' && !hasNumbers(overview.data.totals)
  const query = isEmpty && !hasFilter ? { order: 'asc' as const, limit: 1 } : undefined
  const clicks = useGet('/clicks', query && { ...query, is_bot: false, is_test: false }, ['read:clicks'])
  const conversions = useGet('/conversions', query, ['read:conversions'])
  if (hasFilter) return { text: 'No clicks and conversions in this range with these filters.', isNew: false }
  if (clicks.phase !== 'ready' || conversions.phase !== 'ready')
    return { text: 'No clicks and conversions in this range.', isNew: false }
  const first = [clicks.data.data[0]?.clickedAt, conversions.data.data[0]?.convertedAt].filter(Boolean).sort()[0]
  if (first === undefined) return { text: 'The account has no clicks and no conversions.', isNew: true }
  const isBefore = overview.phase === 'ready' && overview.data.to <= first
  const date = formatDate(first, view.tz)
  return { text: isBefore ? `No data before ${date}.` : 'No clicks and conversions in this range.', isNew: false }
}

/** The text of an empty panel, and a button that removes the filters if there are any. */
export function Empty({ text, view, onChange }: PanelProps & { text: string }) {
  if (Object.keys(view.filters).length === 0) return text
  return (
    <>
      {text} <Button onClick={() => onChange({ filters: {} })}>Clear filters</Button>
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
  return (
    <section class="panel first-steps" aria-label="First steps">
      <h2>The account has no clicks and no conversions</h2>
      <Command title="On the server, import files:" text={imports.join(' &&\n')} />
      <Command title="Or fill the account with made-up rows:" text={`tributary demo ${account}`} />
      <Command
        title="Send an event of a click, with a key that has the scope write:events:"
        text={`curl -s ${header} -d '${event}' '${baseUrl}/api/v1/events'`}
      />
    </section>
  )
}

function Command({ title, text }: { title: string; text: string }) {
  return (
    <>
      <p>{title}</p>
      <pre>{text}</pre>
      <CopyButton text={text} note="Copied.">
        Copy
      </CopyButton>
    </>
  )
}
