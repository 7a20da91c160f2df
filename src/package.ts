import { createRequire } from 'node:module'
import { dirname } from 'node:path'

const require = createRequire(import.meta.url)

/** Folder of package.json, the same from `src` and from `dist`; SQL files and compiled entry points are located from it. */
export const packageRoot = dirname(require.resolve('tributary/package.json'))

/** Version in package.json. */
export const { version } = require('tributary/package.json') as { version: string }
