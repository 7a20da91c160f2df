import Negotiator from 'negotiator'

/** The types of negotiator 1 lack the option. */
interface EncodingNegotiator {
  encoding(offered: readonly string[], options: { preferred: readonly string[] }): string | undefined
}

/**
 * Selects the content coding with the highest weight in `Accept-Encoding`.
 * @param offered in order of preference among equal weights
 * @returns undefined for no compression: without the header, or when no coding has a weight above 0
 */
export function chooseEncoding<Coding extends string>(
  acceptEncoding: string | undefined,
  offered: readonly Coding[],
): Coding | undefined {
  if (acceptEncoding === undefined) return undefined
  const negotiator: EncodingNegotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } })
  const chosen = negotiator.encoding(offered, { preferred: offered })
  return offered.find((coding) => coding === chosen)
}
