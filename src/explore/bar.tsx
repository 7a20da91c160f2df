import { useId, useState } from 'preact/hooks'
import { optionsOf, Select } from './controls.tsx'
import { isZone, ownZone } from './dates.ts'
import { formatDates } from './format.ts'
import { comparedDates, comparisons, type Dates, ranges } from './ranges.ts'
import { type PanelProps, viewDates } from './view.ts'

/** Earlier dates are years that are not typed completely. */
const dateMin = '1970-01-01'

/** Range, comparison and time zone; on a narrow screen one line that opens. */
export function Bar({ view, onChange }: PanelProps) {
  const { range, tz, compare } = view
  const [isWide] = useState(() => matchMedia('(min-width: 700px)').matches)
  const dates = viewDates(view, Date.now())
  const earlier = comparedDates(dates, compare)
  return (
    <details class="bar folding" open={isWide}>
      <summary>
        {formatDates(dates)}, {tz}
      </summary>
      <form aria-label="Range, time zone and comparison" onSubmit={(event) => event.preventDefault()}>
        <label>
          Range{' '}
          <Select
            options={optionsOf({ ...ranges, custom: 'Other dates' })}
            value={typeof range === 'string' ? range : 'custom'}
            onChoose={(name) => onChange({ range: name === 'custom' ? dates : name })}
          />
        </label>
        {typeof range === 'string' ? (
          <span data-range>{formatDates(dates)}</span>
        ) : (
          <DateFields labels={['From', 'To']} dates={range} onDates={(chosen) => onChange({ range: chosen })} />
        )}
        <label>
          Compare with{' '}
          <Select
            options={optionsOf({ ...comparisons, custom: 'Other dates' })}
            value={typeof compare === 'string' ? compare : 'custom'}
            onChoose={(name) => onChange({ compare: name === 'custom' ? (earlier ?? dates) : name })}
          />
        </label>
        {typeof compare === 'string' ? (
          earlier && <span data-compared>{formatDates(earlier)}</span>
        ) : (
          <DateFields
            labels={['Compare from', 'Compare to']}
            dates={compare}
            onDates={(chosen) => onChange({ compare: chosen })}
          />
        )}
        <ZoneField zone={tz} onZone={(zone) => onChange({ tz: zone })} />
      </form>
    </details>
  )
}

interface DateFieldsProps {
  labels: readonly [from: string, to: string]
  dates: Dates
  onDates: (dates: Dates) => void
}

function DateFields({ labels, dates, onDates }: DateFieldsProps) {
  return (['from', 'to'] as const).map((name, index) => (
    <label key={name}>
      {labels[index]}{' '}
      <input
        type="date"
        required
        value={dates[name]}
        min={name === 'from' ? dateMin : dates.from}
        max={name === 'from' ? dates.to : undefined}
        onChange={({ currentTarget }) => {
          if (currentTarget.checkValidity()) onDates({ ...dates, [name]: currentTarget.value })
        }}
      />
    </label>
  ))
}

/** A time zone that is found by a part of its name: first the zone of the browser and UTC, then all that the browser knows. */
function ZoneField({ zone, onZone }: { zone: string; onZone: (zone: string) => void }) {
  const id = useId()
  const names = new Set([ownZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])
  return (
    <label>
      Time zone{' '}
      <input
        key={zone}
        list={id}
        required
        defaultValue={zone}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onInput={({ currentTarget }) => currentTarget.setCustomValidity('')}
        onChange={({ currentTarget }) => {
          const isKnown = isZone(currentTarget.value)
          currentTarget.setCustomValidity(isKnown ? '' : 'There is no time zone with this name.')
          if (isKnown) onZone(currentTarget.value)
          else currentTarget.reportValidity()
        }}
      />
      <datalist id={id}>
        {[...names].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  )
}
