import { useId } from 'preact/hooks'
import { optionsOf, Select } from './controls.tsx'
import { comparisons, type Dates, datesOf, type PanelProps, type RangeName, ranges } from './view.ts'

/** Range, time zone and comparison. */
export function Bar({ view, onChange }: PanelProps) {
  const id = useId()
  const { range, tz, compare } = view
  const custom = typeof range === 'string' ? undefined : range
  return (
    <form class="bar" aria-label="Range, time zone and comparison" onSubmit={(event) => event.preventDefault()}>
      <fieldset class="segments">
        <legend class="visually-hidden">Range</legend>
        {(Object.keys(ranges) as RangeName[]).map((name) => (
          <Segment
            key={name}
            label={ranges[name]}
            isChosen={range === name}
            onChoose={() => onChange({ range: name })}
          />
        ))}
        <Segment
          label="Custom"
          isChosen={custom !== undefined}
          onChoose={() => onChange({ range: datesOf(view, Date.now()) })}
        />
      </fieldset>
      {custom && <DateFields dates={custom} onDates={(dates) => onChange({ range: dates })} />}
      <label for={`${id}-tz`}>Time zone</label>
      <Select
        id={`${id}-tz`}
        options={zones(tz).map((zone) => [zone, zone])}
        value={tz}
        onChoose={(zone) => onChange({ tz: zone })}
      />
      <label for={`${id}-compare`}>Compare with</label>
      <Select
        id={`${id}-compare`}
        options={optionsOf(comparisons)}
        value={compare}
        onChoose={(name) => onChange({ compare: name })}
      />
    </form>
  )
}

interface SegmentProps {
  label: string
  isChosen: boolean
  onChoose: () => void
}

function Segment({ label, isChosen, onChoose }: SegmentProps) {
  return (
    <label class={isChosen ? 'segment chosen' : 'segment'}>
      <input type="radio" name="range" checked={isChosen} onChange={onChoose} />
      {label}
    </label>
  )
}

/** Earlier dates are years that are not typed completely. */
const dateMin = '1970-01-01'

function DateFields({ dates, onDates }: { dates: Dates; onDates: (dates: Dates) => void }) {
  const field = (name: keyof Dates, label: string, limits: { min?: string; max?: string }) => (
    <label class="date">
      {label}{' '}
      <input
        type="date"
        required
        value={dates[name]}
        {...limits}
        onChange={({ currentTarget }) => {
          if (currentTarget.checkValidity()) onDates({ ...dates, [name]: currentTarget.value })
        }}
      />
    </label>
  )
  return (
    <>
      {field('from', 'From', { min: dateMin, max: dates.to })}
      {field('to', 'To', { min: dates.from })}
    </>
  )
}

/** UTC, the zone of the browser, then all zones that the browser knows; always with the chosen one. */
function zones(chosen: string): string[] {
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone
  return [...new Set(['UTC', own, chosen, ...Intl.supportedValuesOf('timeZone')])]
}
