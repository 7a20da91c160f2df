import { useId } from 'preact/hooks'
import { isZone, ownZone } from './dates.ts'

// Equal elements, so that these hundreds of options are not compared.
const zoneOptions = [...new Set([ownZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])].map((name) => (
  <option key={name} value={name} />
))

/** A time zone that is found by a part of its name: first the zone of the browser and UTC, then all that the browser knows. */
export function ZoneField({ zone, onZone }: { zone: string; onZone: (zone: string) => void }) {
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
