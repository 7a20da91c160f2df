import type { ComponentChildren } from 'preact'

interface SelectProps<Value extends string> {
  id?: string
  'aria-label'?: string
  /** Values with their labels, in order. */
  options: readonly (readonly [value: Value, label: string])[]
  value: Value
  onChoose: (value: Value) => void
}

/** A selection of one value. */
export function Select<Value extends string>({ options, onChoose, ...attributes }: SelectProps<Value>) {
  return (
    <select {...attributes} onChange={({ currentTarget }) => onChoose(currentTarget.value as Value)}>
      {options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}

/** The entries of an object of labels, as options of a selection. */
export function optionsOf<Value extends string>(labels: Readonly<Record<Value, string>>) {
  return Object.entries(labels) as [Value, string][]
}

/** A text of a customer on one line, cut off at the end. */
export function Name({ text, size = '' }: { text: string; size?: 'short' | 'medium' | '' }) {
  return (
    <bdi class={`name ${size}`} title={text}>
      {text}
    </bdi>
  )
}

interface TableProps {
  /** Name of the region that scrolls. */
  label: string
  isTall?: boolean
  children: ComponentChildren
}

/** A table that scrolls inside its panel. */
export function Table({ label, isTall = false, children }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section class={isTall ? 'scroll tall' : 'scroll'} aria-label={label} tabIndex={0}>
      <table>{children}</table>
    </section>
  )
}
