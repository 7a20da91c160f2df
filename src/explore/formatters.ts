/** A formatter in the language of the browser, for equal options the same one: making one takes as long as a hundred formats. */
export const numberFormat = kept((options: Intl.NumberFormatOptions) => new Intl.NumberFormat(undefined, options))

/** A formatter of times of the Gregorian calendar, as date fields have it, in the language of the browser unless the options have a locale. */
export const dateFormat = kept(
  ({ locale, ...options }: Intl.DateTimeFormatOptions & { locale?: string }) =>
    new Intl.DateTimeFormat(locale, { calendar: 'gregory', ...options }),
)

function kept<Options, Formatter>(make: (options: Options) => Formatter) {
  const made = new Map<string, Formatter>()
  return (options: Options): Formatter => {
    const id = JSON.stringify(options)
    const formatter = made.get(id) ?? make(options)
    made.set(id, formatter)
    return formatter
  }
}
