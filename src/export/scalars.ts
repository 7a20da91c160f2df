import { FormatRegistry, Type } from '@sinclair/typebox'

/** A pattern would accept month 99, and `Date.parse` February 30. */
function isMoment(text: string): boolean {
  const ms = Date.parse(text)
  // Postgres reads no year of more than four digits in this form.
  return ms >= 0 && text.length === 24 && new Date(ms).toISOString() === text
}

function isPastMoment(text: string): boolean {
  return isMoment(text) && Date.parse(text) <= Date.now()
}

/** Whether a text can be the name of an account or a key. */
export function isDisplayName(text: string): boolean {
  return text !== '' && text.length <= 200 && !/\p{Cc}/u.test(text) && text.isWellFormed()
}

FormatRegistry.Set('moment', isMoment)
FormatRegistry.Set('past moment', isPastMoment)
FormatRegistry.Set('past month', (text) => isPastMoment(text) && text.endsWith('-01T00:00:00.000Z'))
FormatRegistry.Set('display name', isDisplayName)

/** A time from 1970 on, as `toISOString` writes it. */
export const Moment = Type.String({ format: 'moment', description: 'a time such as 2026-11-21T03:00:00.000Z' })

/** The same, not in the future by the clock of this machine. */
export const PastMoment = Type.String({ format: 'past moment', description: 'a past time' })

/** The start of a UTC month that has begun. */
export const PastMonth = Type.String({ format: 'past month' })

export const DisplayName = Type.String({
  format: 'display name',
  description: '1 to 200 characters without control characters',
})
