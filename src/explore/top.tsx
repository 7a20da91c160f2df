import { useLayoutEffect, useState } from 'preact/hooks'
import { Button, Checkbox, Field, Menu, Select } from './controls.tsx'
import { isZone, ownZone } from './dates.ts'
import { ownDecimal } from './files.ts'
import { conditionText } from './filterText.ts'
import { formatMoment } from './format.ts'
import { Freshness } from './freshness.tsx'
import { CopyButton } from './notes.tsx'
import { useSession } from './request.ts'
import type { Overview } from './seriesValues.ts'
import { formatView, type PanelProps } from './view.ts'

/** The numbers are read again so often while the page is in sight. */
const refreshMs = 60_000

/** `overview`: the moment of the numbers, and up to when there are clicks; undefined: not known yet. */
type TopProps = PanelProps & Record<'onRefresh' | 'onLeave', () => void> & { overview: Overview | undefined }

/** Moves the focus to the rows of the table; without rows, the browser follows the link to the panel. */
function skipToRows(event: Event) {
  const rows = document.querySelector<HTMLElement>('#drill-down tbody')
  rows?.focus()
  if (rows) event.preventDefault()
}

// Equal elements, so that these hundreds of options are not compared.
const zoneOptions = [...new Set([ownZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])].map((name) => (
  <option key={name} value={name} />
))

/** The account, up to when it has clicks, and a menu of what concerns the whole page. */
export function Top({ overview, view, onChange, onRefresh, onLeave }: TopProps) {
  const { key } = useSession()
  const [isRepeated, setRepeated] = useState(true)
  // At once, so that no read follows the pause.
  useLayoutEffect(() => {
    if (!isRepeated) return
    const timer = setInterval(() => document.visibilityState === 'visible' && onRefresh(), refreshMs)
    return () => clearInterval(timer)
  }, [isRepeated])
  const part = Object.entries(key.filters ?? {}).map(([name, values]) => conditionText(['is', name, values]))
  return (
    <header class="top controls">
      {/* biome-ignore lint/a11y/useValidAnchor: it is a link to the panel, and the function moves on to the rows. */}
      <a href="#drill-down" onClick={skipToRows}>
        Skip to the rows
      </a>
      <a href="#totals">Skip to the totals</a>
      <a class="brand controls" href="explore">
        <img src="api/v1/docs/page/favicon.svg" alt="" width="26" height="26" />
        Tributary
      </a>
      <span class="account hint" title={`Key: ${key.name}`}>
        <bdi class="name">{key.accountName}</bdi>
      </span>
      {part.length > 0 && <span class="hint">The key sees only: {part.join(', ')}</span>}
      {overview && <Freshness overview={overview} zone={view.tz} />}
      <Menu summary="Menu">
        <nav class="controls" aria-label="Page">
          <Button onClick={onRefresh}>Refresh</Button>
          <Checkbox checked={isRepeated} onCheck={setRepeated}>
            every minute
          </Checkbox>
          <Field
            label="Time zone"
            list="zones"
            required
            value={view.tz}
            check={(name) => (isZone(name) ? '' : 'There is no time zone with this name.')}
            onFocus={({ currentTarget }) => currentTarget.select()}
            onText={(tz) => onChange({ tz })}
          />
          <datalist id="zones">{zoneOptions}</datalist>
          <CopyButton
            text={location.origin + location.pathname + formatView(view)}
            done="The link of this view is in the clipboard, without your API key. A colleague needs another key of the account, which an operator creates."
          >
            Copy link
          </CopyButton>
          <Select
            label="Numbers in CSV"
            options={{ point: '1.5', comma: '1,5' }}
            value={view.csvDecimal ?? ownDecimal}
            onChoose={(csvDecimal) => onChange({ csvDecimal })}
          />
          <a href="api/v1/docs">API reference</a>
          <Button onClick={onLeave}>Remove key</Button>
          <span class="hint">
            Amounts in {key.currency}
            {overview && `, as of ${formatMoment(overview.asOf, view.tz)}`}
          </span>
        </nav>
      </Menu>
    </header>
  )
}
