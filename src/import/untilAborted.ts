import { PassThrough, type Readable } from 'node:stream'
import { whenAborted } from '../stores/timing/whenAborted.ts'

/** Yields the chunks of a stream, and destroys it. @throws the reason of the signal, after what the stream had buffered */
export async function* untilAborted(input: Readable, signal: AbortSignal): AsyncGenerator<Buffer> {
  const chunks = new PassThrough()
  input.once('error', (error) => chunks.destroy(error))
  input.pipe(chunks)
  const stopListening = whenAborted(signal, () => {
    input.unpipe(chunks)
    for (let chunk = input.read(); chunk !== null; chunk = input.read()) chunks.write(chunk)
    chunks.end()
  })
  try {
    yield* chunks
    signal.throwIfAborted()
  } finally {
    stopListening()
    input.destroy()
  }
}
