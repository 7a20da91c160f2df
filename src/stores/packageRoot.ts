import { createRequire } from 'node:module'
import { dirname } from 'node:path'

/** The folder of package.json, the same from `src` and from `dist`: SQL files and compiled entries are found from it. */
export const packageRoot = dirname(createRequire(import.meta.url).resolve('tributary/package.json'))
