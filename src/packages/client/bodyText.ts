import { TributaryError } from './error.ts'

/** Size of a body that is read whole; a full page of the longest rows is smaller. */
const bytesMax = 64 * 1_048_576

/**
 * Reads a body as text.
 * @throws TributaryError when it is longer than 64 MiB; the error of the network
 */
export async function readText({ body, status }: Response): Promise<string> {
  if (!body) return ''
  // TRAP: not `for await`, which Safari lacks.
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.length
    if (bytes > bytesMax) {
      await reader.cancel()
      throw new TributaryError(status, { message: `The response is longer than ${bytesMax / 1_048_576} MiB.` })
    }
    text += decoder.decode(value, { stream: true })
  }
}
