import type { ComponentChildren } from 'preact'
import { noValue } from './format.ts'

interface SelectProps<Value extends string> {
  'aria-label'?: string
  /** Values with their labels, in order; a disabled one cannot be chosen. */
  options: readonly (readonly [value: Value, label: string, isDisabled?: boolean])[]
  value: Value
  onChoose: (value: Value) => void
}

export function Select<Value extends string>({ options, onChoose, ...attributes }: SelectProps<Value>) {
  return (
    <select {...attributes} onChange={({ currentTarget }) => onChoose(currentTarget.value as Value)}>
      {options.map(([value, label, isDisabled]) => (
        <option key={value} value={value} disabled={isDisabled}>
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
export function Name({ text }: { text: string | null | undefined }) {
  return (
    <bdi class="name" title={text ?? undefined}>
      {text ?? noValue}
    </bdi>
  )
}

/** @param head cells of the header */
export function Table({ label, head, children }: Record<'head' | 'children', ComponentChildren> & { label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section class="scroll" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>{head}</tr>
        </thead>
        {children}
      </table>
    </section>
  )
}

export function Column({ label, isNumber = false }: { label: string; isNumber?: boolean }) {
  return (
    <th scope="col" class={isNumber ? 'number' : ''}>
      {label}
    </th>
  )
}
