import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import Negotiator from 'negotiator'

/**
 * Selects the content coding with the highest weight in `Accept-Encoding`.
 * @param offered in order of preference among equal weights
 * @returns undefined for no compression: without the header, or when no coding has a weight above 0
 */
export function chooseEncoding<Coding extends string>(acceptEncoding: string | undefined, offered: readonly Coding[]) {
  if (acceptEncoding === undefined) return undefined
  const negotiator: EncodingNegotiator = new Negotiator({
    headers: { 'accept-encoding': acceptEncoding.slice(0, acceptMax) },
  })
  const chosen = negotiator.encoding(offered, { preferred: offered })
  return offered.find((coding) => coding === chosen)
}

/** Characters of `Accept` and `Accept-Encoding` that are read; longer ones would take milliseconds. */
export const acceptMax = 1_000

/** The types of negotiator 1 lack the option. */
interface EncodingNegotiator {
  encoding(offered: readonly string[], options: { preferred: readonly string[] }): string | undefined
}

const brotli = promisify(brotliCompress)

/**
 * Functions that compress a complete body, outside the event loop; in order of preference. At this quality brotli takes 50 ms
 * per megabyte; the highest takes seconds.
 */
export const encoders = {
  br: (body: Buffer) => brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: promisify(gzip) as (body: Buffer) => Promise<Buffer>,
}

export type Coding = keyof typeof encoders
export const codings = Object.keys(encoders) as Coding[]
