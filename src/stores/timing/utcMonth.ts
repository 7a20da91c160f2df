/** @returns the start of the UTC month of a time, or of the month that is `later` months after it; epoch milliseconds */
export function startOfUtcMonth(epochMs: number, later = 0): number {
  const moment = new Date(epochMs)
  return Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + later)
}
