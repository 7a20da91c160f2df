import { existsSync } from 'node:fs'

/** Whether a Debian package is installed, by one of its files. @throws Error on CI when it is not */
export function isInstalled(path: string, debianPackage: string): boolean {
  if (existsSync(path)) return true
  const missing = `${path} does not exist: install Debian's ${debianPackage} to run these tests.`
  if (process.env.CI) throw new Error(missing)
  console.warn(missing)
  return false
}
