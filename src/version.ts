import { createRequire } from 'node:module'

/** The version of this package, as its package.json says. */
export const { version } = createRequire(import.meta.url)('tributary/package.json') as { version: string }
