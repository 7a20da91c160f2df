import { useId } from 'preact/hooks'
import { Field } from './controls.tsx'
import { isZone, ownZone } from './dates.ts'

// Equal elements, so that these hundreds of options are not compared.
const zoneOptions = [...new Set([ownZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])].map((name) => (
  <option key={name} value={name} />
))

/** A time zone that is found by a part of its name: first the zone of the browser and UTC, then all that the browser knows. */
export function ZoneField({ zone, onZone }: { zone: string; onZone: (zone: string) => void }) {
  const id = useId()
  return (
    <>
      <Field
        label="Time zone"
        list={id}
        required
        value={zone}
        check={(name) => (isZone(name) ? '' : 'There is no time zone with this name.')}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onText={onZone}
      />
      <datalist id={id}>{zoneOptions}</datalist>
    </>
  )
}
