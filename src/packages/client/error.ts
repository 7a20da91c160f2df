import type { components } from './api.ts'
import type { SentEvents } from './types.ts'

type Problem = components['schemas']['Problem']

/** A response with a status other than 200, or one that is not a response of the API. */
export class TributaryError extends Error {
  override readonly name = 'TributaryError'
  readonly status: number
  /** Error code of the API; `unreadable_response` if the response did not come from the API. */
  readonly code: string
  /** The invalid parameter or field. */
  readonly param: string | undefined
  /** Include it in support requests. */
  readonly requestId: string | undefined
  /** Of `sendEvents`: the events that were sent before. */
  declare readonly sent?: SentEvents

  /** @param body of the response, which may come from another server than the API */
  constructor(status: number, body: unknown) {
    const { message, error, param, requestId }: Partial<Record<keyof Problem, unknown>> = Object(body)
    super(textOf(message) ?? `The response has status ${status} and no message.`)
    this.status = status
    this.code = textOf(error) ?? 'unreadable_response'
    this.param = textOf(param)
    this.requestId = textOf(requestId)
  }
}

/** Characters of a text of an error; errors of the API are shorter. */
const textMax = 4_000

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value.slice(0, textMax) : undefined)
