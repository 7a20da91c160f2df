// TRAP: dependency-cruiser also reports no violations when it cannot read the modules, as with an unsupported TypeScript.
// Reads its JSON report from standard input and fails when it has too few modules of the product or too few imports.
import { text } from 'node:stream/consumers'

const modulesMin = 25
const { modules } = JSON.parse(await text(process.stdin))
const ownModules = modules.filter(({ source }) => /^(src|schema)\//.test(source))
const imports = ownModules
  .flatMap(({ dependencies }) => dependencies)
  .filter(({ resolved }) => /^(src|schema)\//.test(resolved))
if (ownModules.length < modulesMin || imports.length < ownModules.length) {
  console.error(
    `dependency-cruiser saw ${ownModules.length} modules and ${imports.length} imports; expected at least ${modulesMin} modules and as many imports.`,
  )
  process.exit(1)
}
console.log(`dependency-cruiser saw ${ownModules.length} modules and ${imports.length} imports.`)
