import { type ResourceName, resourceNames } from '../import/resources.ts'
import { UsageError } from './failure.ts'

/** @throws UsageError when nothing of that name is stored */
export function parseResource(name: string, verb: 'import' | 'export'): ResourceName {
  const found = resourceNames.find((known) => known === name)
  if (!found) throw new UsageError(`there is nothing like ${name} to ${verb}; there are ${resourceNames.join(', ')}.`)
  return found
}
