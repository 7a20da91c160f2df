import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const brotli = promisify(brotliCompress)

/** In order of preference. At this quality brotli takes 50 ms per megabyte; the highest takes seconds. */
const encoders = {
  br: (body: Buffer) => brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: promisify(gzip) as (body: Buffer) => Promise<Buffer>,
}

/** A content coding of complete bodies. */
export type Coding = keyof typeof encoders
export const codings = Object.keys(encoders) as Coding[]

/** Compresses a complete body, outside the event loop. */
export function encode(coding: Coding, body: Buffer): Promise<Buffer> {
  return encoders[coding](body)
}
