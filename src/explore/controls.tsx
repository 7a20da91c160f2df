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

interface RowTableProps<Row> {
  label: string
  rows: readonly Row[]
  columns: readonly TableColumn<Row>[]
  /** The tooltip of a row. */
  title?: (row: Row) => string
}

/** A column of a table; the first one has the headers of the rows. */
export interface TableColumn<Row> {
  label: string
  isNumber?: boolean
  cell: (row: Row, index: number) => ComponentChildren
}

export function RowTable<Row>({ label, rows, columns, title }: RowTableProps<Row>) {
  const [first, ...others] = columns
  return (
    <Table label={label} head={columns.map((column, at) => <Column key={at} {...column} />)}>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index} title={title?.(row)}>
            <th scope="row">{first?.cell(row, index)}</th>
            {others.map(({ isNumber, cell }, at) => (
              <td key={at} class={isNumber ? 'number' : ''}>
                {cell(row, index)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </Table>
  )
}

export function Column({ label, isNumber = false }: { label: string; isNumber?: boolean }) {
  return (
    <th scope="col" class={isNumber ? 'number' : ''}>
      {label}
    </th>
  )
}
