/** An error that the operator can act on: the command prints its message in one line, without a stack. */
export class ExpectedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** @returns the first line of the driver's message, which names the cause, without its point; never empty */
export function causeOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string }
  const line = /^.*[^\s.]/.exec(message ?? '')?.[0]
  return line || code || String(error)
}
