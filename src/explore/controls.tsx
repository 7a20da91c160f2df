import type { ComponentChildren, ComponentProps } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { noValue } from './format.ts'

interface SelectProps<Value extends string> {
  label: string
  /** Values with their labels, in order. */
  options: Readonly<Partial<Record<Value, string>>>
  value: Value
  onChoose: (value: Value) => void
  ref?: (select: HTMLSelectElement | null) => void
}

export function Select<Value extends string>({ label, options, onChoose, ...select }: SelectProps<Value>) {
  return (
    <label>
      {label}{' '}
      <select {...select} aria-label={label} onChange={({ currentTarget }) => onChoose(currentTarget.value as Value)}>
        {Object.entries(options as Record<string, string>).map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

/** A button that submits no form; only its content if a click does nothing. */
export const Button = (props: ComponentProps<'button'>) =>
  props.onClick ? <button type="button" {...props} /> : props.children

type CheckboxProps = { checked: boolean; disabled?: boolean; onCheck: (checked: boolean) => void }

/** A checkbox before its label. */
export function Checkbox({ onCheck, children, ...input }: CheckboxProps & { children: ComponentChildren }) {
  return (
    <label>
      <input type="checkbox" {...input} onChange={({ currentTarget }) => onCheck(currentTarget.checked)} /> {children}
    </label>
  )
}

/** The labels of some entries of a table, as options of a selection. */
export function labelsOf<Name extends string>(names: readonly Name[], table: Record<Name, { label: string }>) {
  return Object.fromEntries(names.map((name) => [name, table[name].label])) as Record<Name, string>
}

type FieldProps = Pick<ComponentProps<'input'>, 'min' | 'max' | 'required' | 'onFocus'> & {
  label: string
  value: string
  type?: 'date' | 'number'
  /** Id of the texts that are offered. */
  list?: string
  onText: (text: string) => void
  /** Why a text is not valid, beside what the browser checks; empty if it is. */
  check?: (text: string) => string
}

/** A field. A text that is not valid changes nothing, and the browser says why. */
export function Field({ label, value, onText, check, ...input }: FieldProps) {
  const field = useRef<HTMLInputElement>(null)
  const shown = useRef<string>(undefined)
  useEffect(() => {
    // TRAP: setting a date ends the typing of its parts.
    if (field.current && value !== shown.current) field.current.value = value
    shown.current = value
  }, [value])
  return (
    <label>
      {label}{' '}
      <input
        {...input}
        ref={field}
        onChange={({ currentTarget }) => {
          currentTarget.setCustomValidity(check?.(currentTarget.value) ?? '')
          if (!currentTarget.reportValidity() || currentTarget.value === value) return
          shown.current = currentTarget.value
          onText(currentTarget.value)
        }}
      />
    </label>
  )
}

/** Why something is not valid; nothing if the text is empty. */
export const Problem = ({ text }: { text: string }) =>
  text && (
    <span class="problem" role="alert">
      {text}
    </span>
  )

/** A button that opens controls below it. */
export function Menu({ summary, children }: Record<'summary' | 'children', ComponentChildren>) {
  const id = useId()
  return (
    <>
      <button type="button" popovertarget={id}>
        {summary}
      </button>
      <div id={id} popover class="popup panel controls">
        {children}
      </div>
    </>
  )
}

/** Moves the focus to a field that was added. The same function, so that it is called once for each field. */
export const focus = (field: HTMLElement | null) => field?.focus()

/** A text of a customer on one line, cut off at the end; in a table on several lines. */
export function Name({ text }: { text: string | null | undefined }) {
  return (
    <bdi class="name" title={text ?? undefined}>
      {text ?? noValue}
    </bdi>
  )
}

type TableProps = { label: string } & Partial<Record<'head' | 'totals' | 'children', ComponentChildren>>

/**
 * A table; all of its rows are visible. One that is wider than its place scrolls sideways. Otherwise its header and its totals stay
 * in sight.
 * @param head cells of the header
 * @param totals cells of the row below the header
 */
export function Table({ label, head, totals, children }: TableProps) {
  const table = useRef<HTMLTableElement>(null)
  const [isWider, setWider] = useState(true)
  useEffect(() => {
    const place = table.current?.parentElement
    if (!table.current || !place) return
    const observer = new ResizeObserver(() => setWider((table.current?.offsetWidth ?? 0) > place.clientWidth))
    for (const part of [table.current, place]) observer.observe(part)
    return () => observer.disconnect()
  }, [])
  return (
    // A region that scrolls must be reachable by keyboard.
    <section class={isWider ? 'scroll' : ''} aria-label={label} tabIndex={isWider ? 0 : undefined}>
      <table ref={table}>
        <thead>
          <tr>{head}</tr>
          {totals && <tr class="totals">{totals}</tr>}
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
export type TableColumn<Row> = { label: string; isNumber?: boolean; cell: (row: Row, at: number) => ComponentChildren }

export function RowTable<Row>({ label, rows, columns, title }: RowTableProps<Row>) {
  const [first, ...others] = columns
  return (
    <Table
      label={label}
      head={columns.map((column, at) => (
        <th key={at} scope="col" class={column.isNumber ? 'number' : ''}>
          <Name text={column.label} />
        </th>
      ))}
    >
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
