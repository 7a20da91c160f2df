/** Runs `act` once: when the signal aborts, or now when it has. @returns what takes that back */
export function whenAborted(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) act()
  else signal.addEventListener('abort', act, { once: true })
  return () => signal.removeEventListener('abort', act)
}
