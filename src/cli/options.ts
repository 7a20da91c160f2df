import { InvalidArgumentError } from 'commander'
import { type ResourceName, resourceNames } from '../import/resourceNames.ts'
import { UsageError } from './errors.ts'

/** Largest `integer` of Postgres. */
const integerMax = 2_147_483_647

/** Returns a parser of an option that is a whole number from `minimum` to `maximum`, inclusive. */
export function wholeNumberFrom(minimum: number, maximum: number = integerMax): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d{1,10}$/.test(text) || value < minimum || value > maximum) {
      throw new InvalidArgumentError(`Use a whole number from ${minimum} to ${maximum}.`)
    }
    return value
  }
}

/** @throws UsageError if there is no such resource */
export function parseResource(name: string, command: 'import' | 'export'): ResourceName {
  const found = resourceNames.find((known) => known === name)
  if (!found) throw new UsageError(`cannot ${command} ${name}; resources: ${resourceNames.join(', ')}.`)
  return found
}
