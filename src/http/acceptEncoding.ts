/**
 * Chooses the content coding that `Accept-Encoding` gives the highest weight.
 * @param offered in the order of our preference
 * @returns undefined: uncompressed, as without the header or where it names none of them with a weight above 0
 */
export function chooseEncoding<Coding extends string>(
  acceptEncoding: string | undefined,
  offered: readonly Coding[],
): Coding | undefined {
  const weights = new Map((acceptEncoding ?? '').split(',').map(parse))
  const weightOf = (coding: Coding) => weights.get(coding) ?? weights.get('*') ?? 0
  const [best] = offered.filter((coding) => weightOf(coding) > 0).sort((one, other) => weightOf(other) - weightOf(one))
  return best
}

function parse(part: string): [coding: string, weight: number] {
  const [coding = '', weight] = part
    .trim()
    .toLowerCase()
    .split(/\s*;\s*q=/)
  return [coding, Number(weight ?? 1)]
}
