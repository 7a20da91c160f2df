import { createHash } from 'node:crypto'

/** Where the rows are copied to. */
export function kindOf(target: string): 'postgres' | 's3' | 'duckdb' | 'folder' {
  if (/^postgres(ql)?:\/\//.test(target)) return 'postgres'
  if (/^s3:\/\/[^/]/.test(target)) return 's3'
  return target.endsWith('.duckdb') ? 'duckdb' : 'folder'
}

/** @returns the place of one of several accounts: a schema of PostgreSQL, or a file, folder or prefix */
export function placeOf(target: string, schema: string, accountId: string): { target: string; schema: string } {
  const plain = accountId
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, 24)
  // Ids that differ have different names, also in file systems that ignore case.
  const hash = plain === accountId ? '' : `_${createHash('sha256').update(accountId).digest('hex').slice(0, 8)}`
  const kind = kindOf(target)
  if (kind === 'postgres') return { target, schema: `${schema}_${plain}${hash}` }
  if (kind === 'duckdb') return { target: target.replace(/\.duckdb$/, `-${plain}${hash}.duckdb`), schema }
  return { target: `${target}${target.endsWith('/') ? '' : '/'}${plain}${hash}`, schema }
}

/** @returns a target without user, password and parameters */
export function withoutSecrets(target: string): string {
  if (kindOf(target) !== 'postgres') return target
  const start = target.indexOf('//') + 2
  return `${target.slice(0, start)}${target.slice(start).split('@').at(-1)?.split('?')[0]}`
}
