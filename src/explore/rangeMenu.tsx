import { useId } from 'preact/hooks'
import { Folding, Select } from './controls.tsx'
import { isZone, ownZone } from './dates.ts'
import { formatDates } from './format.ts'
import { comparedDates, comparisons, type Dates, ranges } from './ranges.ts'
import { SavedViews } from './savedViews.tsx'
import { countTimes, type PanelProps, viewDates } from './view.ts'

// Equal elements, so that these hundreds of options are not compared.
const zoneOptions = [...new Set([ownZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])].map((name) => (
  <option key={name} value={name} />
))

/** Earlier dates are years that are not typed completely. */
const dateMin = '1970-01-01'

/** Range, comparison and time zone, and saved views; on a narrow screen one line that opens. */
export function Bar({ view, onChange }: PanelProps) {
  const { range, tz, compare } = view
  const dates = viewDates(view, Date.now())
  const earlier = comparedDates(dates, compare)
  return (
    <section class="bar" aria-label="Range and views" tabIndex={-1}>
      <Folding summary={`${formatDates(dates)}, ${tz}`}>
        <div class="controls">
          <DatesField
            labels={['Range', 'From', 'To']}
            options={ranges}
            chosen={range}
            dates={dates}
            onChoose={(chosen) => onChange({ range: chosen })}
          />
          <DatesField
            labels={['Compare with', 'Compare from', 'Compare to']}
            options={comparisons}
            chosen={compare}
            dates={earlier ?? dates}
            onChoose={(chosen) => onChange({ compare: chosen })}
          />
          <Select
            label="Conversions count at"
            options={countTimes}
            value={view.countAt}
            onChoose={(countAt) => onChange({ countAt })}
          />
          <ZoneField zone={tz} onZone={(zone) => onChange({ tz: zone })} />
          <SavedViews view={view} onChange={onChange} />
        </div>
      </Folding>
    </section>
  )
}

interface DatesFieldProps<Name extends string> {
  labels: readonly [field: string, from: string, to: string]
  options: Readonly<Record<Name, string>>
  chosen: Name | Dates
  /** The dates of the name. */
  dates: Dates
  onChoose: (chosen: Name | Dates) => void
}

/** A range by its name with its dates, or by any two dates. */
function DatesField<Name extends string>({ labels, options, chosen, dates, onChoose }: DatesFieldProps<Name>) {
  const isNamed = typeof chosen === 'string'
  return (
    <>
      <Select
        label={labels[0]}
        options={{ ...options, custom: 'Other dates' }}
        value={isNamed ? chosen : 'custom'}
        onChoose={(name) => onChoose(name === 'custom' ? dates : (name as Name))}
      />
      {isNamed && chosen !== 'none' && <span data-dates>{formatDates(dates)}</span>}
      {!isNamed &&
        (['from', 'to'] as const).map((name, index) => (
          <label key={name}>
            {labels[index + 1]}{' '}
            <input
              type="date"
              required
              value={dates[name]}
              min={name === 'from' ? dateMin : dates.from}
              max={name === 'from' ? dates.to : undefined}
              onChange={({ currentTarget }) => {
                if (currentTarget.checkValidity()) onChoose({ ...dates, [name]: currentTarget.value })
              }}
            />
          </label>
        ))}
    </>
  )
}

/** A time zone that is found by a part of its name: first the zone of the browser and UTC, then all that the browser knows. */
function ZoneField({ zone, onZone }: { zone: string; onZone: (zone: string) => void }) {
  const id = useId()
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
      <datalist id={id}>{zoneOptions}</datalist>
    </label>
  )
}
