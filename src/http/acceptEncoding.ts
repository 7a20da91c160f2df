/**
 * Selects the content coding with the highest weight in `Accept-Encoding`.
 * @param offered in order of preference
 * @returns undefined for no compression: without the header, or when no coding has a weight above 0
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
