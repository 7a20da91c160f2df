/** Durations in milliseconds; a local day may be an hour shorter or longer. */
export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs
