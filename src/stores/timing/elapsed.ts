/**
 * Begins to measure a time by two clocks: the monotonic one stops while the machine sleeps, the wall clock may be set back.
 * @returns function that returns the milliseconds since then, by the clock that has advanced more
 */
export function measureElapsed(): () => number {
  const [wallMs, monotonicMs] = [Date.now(), performance.now()]
  return () => Math.max(Date.now() - wallMs, performance.now() - monotonicMs)
}
