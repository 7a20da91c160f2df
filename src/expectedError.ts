/** An error that the operator can act on: the command prints its message in one line, without a stack. */
export class ExpectedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}
