import { setTimeout as sleep } from 'node:timers/promises'
import type { Postgres } from '../../../src/stores/postgres/connection.ts'
import { processIdOf } from '../../kit/processes.ts'
import type { Victim } from './crashStores.ts'

/** After this number of exits within 30 s, the supervisor waits before it restarts an engine. */
const exitsMax = 4

const startMaxMs = 60_000

/** The embedded Postgres of a folder. Its supervisor restarts it; the supervisor is killed before it would wait. */
export function embeddedPostgres(folder: string, sql: Postgres): Victim {
  let exits = 0
  const pidOf = (program: string) => processIdOf(folder, program)
  return {
    get pid() {
      const pid = pidOf('postgres/engine')
      if (!pid) throw new Error('The embedded Postgres does not run.')
      return pid
    },
    get ended() {
      return endOf(this.pid)
    },
    async start() {
      exits += 1
      const supervisor = pidOf('supervisor')
      if (exits % exitsMax === 0 && supervisor) process.kill(supervisor, 'SIGKILL')
      for (const deadlineMs = performance.now() + startMaxMs; ; await sleep(50)) {
        const isUp = await sql`SELECT 1`.then(
          () => true,
          () => false,
        )
        if (isUp) return
        if (performance.now() > deadlineMs) throw new Error('The embedded Postgres does not restart.')
      }
    },
  }
}

async function endOf(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await sleep(20)
  }
}
