import { FormatRegistry, Type } from '@sinclair/typebox'

/** A pattern would accept month 99, and `Date.parse` February 30. */
function isMoment(text: string): boolean {
  const ms = Date.parse(text)
  return ms >= 0 && new Date(ms).toISOString() === text
}

FormatRegistry.Set('moment', isMoment)
FormatRegistry.Set('past moment', (text) => isMoment(text) && Date.parse(text) <= Date.now())

/** A time from 1970 on, as `toISOString` writes it. */
export const Moment = Type.String({ format: 'moment' })

/** The same, not in the future by the clock of this machine. */
export const PastMoment = Type.String({ format: 'past moment' })
