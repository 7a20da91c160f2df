// Reads the JSON report of dependency-cruiser from standard input, and fails
// - when it has too few modules of the product or too few imports. TRAP: dependency-cruiser also reports no violations when it
//   cannot read the modules, as with an unsupported TypeScript;
// - when the files of a folder import a subfolder that imports files of this folder. Files of src itself are left out.
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'

const modulesMin = 25
/** Subfolders that still import files of their folder and are imported by them. */
const bothWays = ['src/packages/sync/postgres', 'src/query/facts']

const { modules } = JSON.parse(await text(process.stdin))
const ownModules = modules.filter(({ source }) => /^(src|schema)\//.test(source))
const imports = ownModules
  .flatMap(({ source, dependencies }) => dependencies.map(({ resolved }) => ({ from: source, to: resolved })))
  .filter(({ to }) => /^(src|schema)\//.test(to))
if (ownModules.length < modulesMin || imports.length < ownModules.length) {
  console.error(
    `dependency-cruiser saw ${ownModules.length} modules and ${imports.length} imports; expected at least ${modulesMin} modules and as many imports.`,
  )
  process.exit(1)
}

/** @returns the imports of files in a folder by files in one of its subfolders, or the reverse, by subfolder */
function importsBySubfolder(folderOf, otherOf) {
  const found = new Map()
  for (const one of imports) {
    const [folder, other] = [dirname(folderOf(one)), dirname(otherOf(one))]
    if (folder === 'src' || !other.startsWith(`${folder}/`)) continue
    const subfolder = `${folder}/${other.slice(folder.length + 1).split('/')[0]}`
    found.set(subfolder, `${one.from} imports ${one.to}`)
  }
  return found
}
const downwards = importsBySubfolder(
  ({ from }) => from,
  ({ to }) => to,
)
const upwards = importsBySubfolder(
  ({ to }) => to,
  ({ from }) => from,
)
const wrong = [...downwards.keys()].filter((subfolder) => upwards.has(subfolder) && !bothWays.includes(subfolder))
for (const subfolder of wrong) {
  console.error(
    `${subfolder} and its folder import each other: ${downwards.get(subfolder)}, but ${upwards.get(subfolder)}.`,
  )
}
const done = bothWays.filter((subfolder) => !(downwards.has(subfolder) && upwards.has(subfolder)))
if (done.length > 0) console.error(`Remove from bothWays in .dependency-canary.mjs: ${done.join(', ')}.`)
if (wrong.length + done.length > 0) process.exit(1)
console.log(`dependency-cruiser saw ${ownModules.length} modules and ${imports.length} imports.`)
