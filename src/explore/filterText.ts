import type { ValueForm } from './dimensions.ts'

export type FilterValues = { values: readonly string[]; isExcluded: boolean }

/** Writes the value of a filter parameter; the API reads `,`, `\` and a leading `!` literally after a `\`. */
export function formatFilter({ values, isExcluded }: FilterValues): string {
  const text = values.map((value) => value.replace(/[\\,]/g, '\\$&')).join(',')
  if (isExcluded) return `!${text}`
  return text.startsWith('!') ? `\\${text}` : text
}

/** Reads the value of a filter parameter; the inverse of `formatFilter`. The API checks it. */
export function parseFilter(text: string): FilterValues {
  const isExcluded = text.startsWith('!')
  const values = ['']
  for (const [, escaped, letter = ''] of text.slice(isExcluded ? 1 : 0).matchAll(/\\(.)|(.)/gsu)) {
    if (letter === ',') values.push('')
    else values.push(`${values.pop()}${escaped ?? letter}`)
  }
  return { values, isExcluded }
}

/** A value of a dimension, with its name if it has one. */
type NamedValue = { id: string; name: string | null }

/** Whether the id or the name of a value has a text. */
export function hasText({ id, name }: NamedValue, text: string): boolean {
  return `${id}\n${name ?? ''}`.toLowerCase().includes(text.trim().toLowerCase())
}

/** `values`: ids that are checked; `listed`: values that are offered; `form`: of values of the dimension, undefined: any text. */
type FilledForm = FilterValues & { text: string; listed: readonly NamedValue[]; form: ValueForm | undefined }

/** Reads a form that is filled in. @returns the value of the filter parameter, or why the form has none that the API reads */
export function readForm({ text, values, isExcluded, listed, form }: FilledForm) {
  const typed = text.trim()
  const isMeant = (known: string | null) => known?.toLowerCase() === typed.toLowerCase()
  const found = listed.filter((value) => hasText(value, typed))
  const only = form && typed !== '' && found.length === 1 ? found[0] : undefined
  const value = (listed.find(({ id, name }) => isMeant(id) || isMeant(name)) ?? only)?.id
  // The text may be what found the values that are checked.
  const isSearch = values.length > 0 && (typed === '' || found.length > 0)
  if (value === undefined && !isSearch) {
    if (typed === '') return { problem: 'Type a value, or check one of the list.' }
    if (form && typed !== notSet) {
      if (found.length > 1) return { problem: 'Several values of the list have this text. Check one or more of them.' }
      if (!form.pattern.test(typed))
        return { problem: `No value of the list has this text, and it is not ${form.name}.` }
    }
  }
  const added = value ?? (isSearch ? [] : typed)
  return { filter: formatFilter({ values: [...new Set(values.concat(added))], isExcluded }) }
}

/** The value of rows without a value, as the API names it. */
export const notSet = '(not set)'
