import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../cli/runCommand.ts'
import { rowsOf } from '../../import/runImport.ts'
import { makeAccountWithKey } from '../../kit/accounts.ts'
import { makeProgram, nextMigrations } from '../../kit/program.ts'
import { countCompleted } from '../../upgrades/killedMigration.ts'
import { storedRowsOf, storeRetained } from '../../writer/retention/retainedAccount.ts'
import { differing } from './accountState.ts'
import type { CrashStores } from './crashStores.ts'
import { isChange, runUntilReached, type VerbKills } from './verbKills.ts'

/**
 * Kills the command `migrate` of a later version before and after each statement that changes something, one process after the
 * other. After each kill the present version imports a click.
 */
export async function killUpgrade(stores: CrashStores): Promise<VerbKills> {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-upgrade-'))
  try {
    const next = join(folder, 'next')
    await makeProgram(next, '99.1.0', nextMigrations)
    for (const account of ['earlier', 'present']) await makeAccountWithKey(stores.stores, account)
    await storeRetained(stores.stores, 'earlier')
    const before = await storedRowsOf(stores.stores, 'earlier')
    const faults: string[] = []
    let killed = 0
    let completed = await countCompleted(stores.stores)
    for (let at = 1; ; at++) {
      const holds = at % 2 === 0 ? 'response' : 'request'
      let left = Math.ceil(at / 2)
      const isReached = (statement: string) => isChange(statement) && --left === 0
      const { ended, isKilled } = await runUntilReached(
        stores,
        ['migrate'],
        { isReached, holds, victim: 'command' },
        next,
      )
      if (!isKilled && ended.code === 0) break
      if (!isKilled) faults.push(`migrate, ${holds} ${at}: ${ended.code} ${ended.stderr}`)
      killed += 1
      await stores.stores.postgres`UPDATE leases SET expires_at = '-infinity' WHERE name = 'migrate'`
      const file = join(folder, `${killed}.ndjson`)
      await writeFile(file, `{"id":"c${killed}","clickedAt":"2026-11-20T10:00:00Z","device":"mobile"}\n`)
      const imported = await run(['import', 'clicks', file, '--account', 'present'], stores.environment)
      if (imported.code !== 0) faults.push(`import after kill ${killed}: ${imported.stderr}`)
      // A file that has completed does not run again: the statements of the next process are counted from its first one.
      const present = await countCompleted(stores.stores)
      if (present > completed) at = 0
      completed = present
    }
    const added = /"is_mobile":(true|false),?|,"is_mobile":(true|false)/g
    const after = (await storedRowsOf(stores.stores, 'earlier')).replaceAll(added, '')
    faults.push(...differing('The earlier account', [after], [before]))
    for (const program of [undefined, next]) {
      const verified = await run(['verify', '--json'], stores.environment, program)
      if (verified.code !== 0) faults.push(`verify: ${verified.stdout} ${verified.stderr}`)
    }
    const [row] = await rowsOf<{ clicks: number }>(
      stores.stores,
      "SELECT sum(clicks) AS clicks FROM sums_by_day WHERE account_id = 'present' AND dimension = 'device'",
    )
    const clicks = row?.clicks
    if (clicks !== killed) faults.push(`${clicks} clicks are counted, ${killed} were imported`)
    return { faults, killed, trials: killed, moments: killed }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
