import { createRequire } from 'node:module'
import { dirname } from 'node:path'

const require = createRequire(import.meta.url)

/** The folder of package.json, the same from `src` and from `dist`: SQL files and compiled entries are found from it. */
export const packageRoot = dirname(require.resolve('tributary/package.json'))

/** The version of this package, as its package.json says. */
export const { version } = require('tributary/package.json') as { version: string }
