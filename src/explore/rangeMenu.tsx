import { Button, Checkbox, Field, Menu, Select } from './controls.tsx'
import { dateIn, datesIn } from './dates.ts'
import { formatDates } from './format.ts'
import { comparisons, type Dates, rangeNames, ranges } from './ranges.ts'
import type { Loaded } from './request.ts'
import type { Overview } from './seriesValues.ts'
import type { PanelProps } from './view.ts'

/** Earlier dates are years that are not typed completely. */
const dateMin = '1970-01-01'

/** The range with its dates and what it is compared with, as one button that opens the selection of all. */
export function RangeMenu(props: PanelProps & { overview: Loaded<Overview> }) {
  const { view, onChange, overview } = props
  const { range, tz, compare } = view
  // The response has the dates of the range. Until it arrives, the fields show the dates of the response before it.
  const body = overview.data
  const today = dateIn(tz, Date.now())
  const read = body ? datesIn(tz, body) : { from: today, to: today }
  const earlier = body?.previous && datesIn(tz, body.previous)
  const [name, dates] = typeof range === 'string' ? [ranges[range].label, read] : ['', range]
  const isKnown = overview.phase === 'ready'
  const summary = (
    <>
      <strong>{name}</strong> {(isKnown || !name) && <bdi data-dates>{formatDates(dates)}</bdi>}{' '}
      {isKnown && earlier && (
        <span class="hint">
          vs. <bdi data-dates>{formatDates(earlier)}</bdi>
        </span>
      )}
      {view.countAt === 'click' && <span class="hint"> by click time</span>}
    </>
  )
  return (
    <Menu summary={summary}>
      <DateFields labels={{ from: 'From', to: 'To' }} dates={dates} onDates={(chosen) => onChange({ range: chosen })} />
      <fieldset class="choices" aria-label="Range">
        {rangeNames.map((of) => (
          <Button
            key={of}
            aria-pressed={range === of}
            onClick={({ currentTarget }) => {
              currentTarget.closest<HTMLElement>('[popover]')?.hidePopover()
              onChange({ range: of })
            }}
          >
            {ranges[of].label}
          </Button>
        ))}
      </fieldset>
      <Select
        label="Compare with"
        options={{ ...comparisons, custom: 'Other dates' }}
        value={typeof compare === 'string' ? compare : 'custom'}
        onChoose={(of) => onChange({ compare: of === 'custom' ? (earlier ?? dates) : of })}
      />
      {typeof compare !== 'string' && (
        <DateFields
          labels={{ from: 'Compare from', to: 'Compare to' }}
          dates={compare}
          onDates={(chosen) => onChange({ compare: chosen })}
        />
      )}
      <Checkbox
        checked={view.countAt === 'click'}
        onCheck={(isAtClick) => onChange({ countAt: isAtClick ? 'click' : 'conversion' })}
      >
        Count conversions by click time
      </Checkbox>
    </Menu>
  )
}

type DateFieldsProps = { labels: Dates; dates: Dates; onDates: (dates: Dates) => void }

function DateFields({ labels, dates, onDates }: DateFieldsProps) {
  return (['from', 'to'] as const).map((name) => (
    <Field
      key={name}
      label={labels[name]}
      type="date"
      required
      value={dates[name]}
      min={name === 'from' ? dateMin : dates.from}
      max={name === 'from' ? dates.to : undefined}
      onText={(date) => onDates({ ...dates, [name]: date })}
    />
  ))
}
