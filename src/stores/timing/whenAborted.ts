/** Runs `action` once: when the signal aborts, or now when it has. @returns a function that removes the listener */
export function whenAborted(signal: AbortSignal, action: () => void): () => void {
  if (signal.aborted) action()
  else signal.addEventListener('abort', action, { once: true })
  return () => signal.removeEventListener('abort', action)
}
