import { inject } from 'vitest'
import { hasZooKeeper } from './zooKeeper.ts'

/** Whether `startReplicas` works here; the log says why not. */
export function canReplicate(): boolean {
  if (inject('engines').hasDocker) return true
  if (process.platform === 'linux' && process.arch === 'x64') return hasZooKeeper()
  console.warn('Replicas need Docker, or Linux on x64: test/kit/replicable.mjs changes the engine of that system.')
  return false
}
