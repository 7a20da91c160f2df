// dependency-cruiser says "no violations" as gladly when it could read nothing (as with a TypeScript it does not know).
// Reads its JSON report on standard input and fails when it saw too few modules of ours or too few edges between them.
import { text } from 'node:stream/consumers'

const modulesMin = 25
const { modules } = JSON.parse(await text(process.stdin))
const ours = modules.filter(({ source }) => /^(src|schema)\//.test(source))
const edges = ours
  .flatMap(({ dependencies }) => dependencies)
  .filter(({ resolved }) => /^(src|schema)\//.test(resolved))
if (ours.length < modulesMin || edges.length < ours.length) {
  console.error(`dependency-cruiser saw ${ours.length} modules and ${edges.length} edges of ours; it is blind.`)
  process.exit(1)
}
console.log(`dependency-cruiser saw ${ours.length} modules and ${edges.length} edges between them.`)
