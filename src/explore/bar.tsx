import { optionsOf, Select } from './controls.tsx'
import { comparisons, type PanelProps, ranges, viewDates } from './view.ts'

/** Earlier dates are years that are not typed completely. */
const dateMin = '1970-01-01'

export function Bar({ view, onChange }: PanelProps) {
  const { range, tz, compare } = view
  const custom = typeof range === 'string' ? undefined : range
  return (
    <form class="bar" aria-label="Range, time zone and comparison" onSubmit={(event) => event.preventDefault()}>
      <fieldset class="segments">
        <legend class="visually-hidden">Range</legend>
        {optionsOf({ ...ranges, custom: 'Custom' }).map(([name, label]) => (
          <label key={name} class="segment">
            <input
              type="radio"
              name="range"
              checked={name === (custom ? 'custom' : range)}
              onChange={() => onChange({ range: name === 'custom' ? viewDates(view, Date.now()) : name })}
            />
            {label}
          </label>
        ))}
      </fieldset>
      {custom &&
        (['from', 'to'] as const).map((name) => (
          <label key={name}>
            {name === 'from' ? 'From' : 'To'}{' '}
            <input
              type="date"
              required
              value={custom[name]}
              min={name === 'from' ? dateMin : custom.from}
              max={name === 'from' ? custom.to : undefined}
              onChange={({ currentTarget }) => {
                if (currentTarget.checkValidity()) onChange({ range: { ...custom, [name]: currentTarget.value } })
              }}
            />
          </label>
        ))}
      <label>
        Time zone <Select options={zones(tz)} value={tz} onChoose={(zone) => onChange({ tz: zone })} />
      </label>
      <label>
        Compare with{' '}
        <Select options={optionsOf(comparisons)} value={compare} onChoose={(name) => onChange({ compare: name })} />
      </label>
    </form>
  )
}

/** UTC, the zone of the browser, then all zones that the browser knows; always with the chosen one. */
function zones(chosen: string): (readonly [string, string])[] {
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone
  const names = new Set(['UTC', own, chosen, ...Intl.supportedValuesOf('timeZone')])
  return [...names].map((zone) => [zone, zone])
}
