// Makes the server and its stores fail under load, and looks afterwards whether every event that was answered 200 is
// stored exactly once, and so is every one that had to be sent again.
//   npm run faults [-- part of a scenario's name]
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openBed } from './bed.ts'
import { scenarios } from './scenarios.ts'

const effort = { connections: 64, times: 4, awayMs: 20_000 }
/** Room for both engines and what is stored before it is filled up. */
const smallDiskMb = 600

const wanted = process.argv[2] ?? ''
let failed = 0
for (const [name, scenario] of Object.entries(scenarios).filter(([name]) => name.includes(wanted))) {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-faults-'))
  const isOnSmallDisk = name.includes('disk') && mount(folder)
  const bed = await openBed(folder)
  try {
    const { load, faults = [] } = await scenario(bed, effort, folder)
    const all = [...faults, ...(await bed.reckon(load))]
    const others = [...load.others].map(([status, count]) => `${count} × ${status}`).join(', ') || 'no other answer'
    console.log(
      `${all.length === 0 ? 'held' : 'FAILED'}: ${name}: ${load.answered.size} events stored once; ${others}.`,
    )
    for (const fault of all.slice(0, 20)) console.log(`  ${fault}`)
    if (all.length > 0) failed += 1
  } finally {
    await bed.close()
    if (isOnSmallDisk) execFileSync('umount', ['--lazy', folder])
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
  }
}
process.exitCode = failed === 0 ? 0 : 1

/** Puts a small disk at a folder. @throws Error where mounting is not allowed: the scenario would fill the real one */
function mount(folder: string): boolean {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${smallDiskMb}m`, 'tmpfs', folder])
  return true
}
