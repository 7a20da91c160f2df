import { InvalidArgumentError } from 'commander'
import { type ResourceName, resourceNames } from '../import/resourceNames.ts'
import { UsageError } from './errors.ts'

/** The largest that Postgres keeps in an `integer`. */
const integerMax = 2_147_483_647

/** Makes the reader of an option that is a whole number, both ends included. */
export function wholeNumberFrom(minimum: number, maximum: number = integerMax): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d{1,10}$/.test(text) || value < minimum || value > maximum) {
      throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`)
    }
    return value
  }
}

/** @throws UsageError when nothing of that name is stored */
export function parseResource(name: string, verb: 'import' | 'export'): ResourceName {
  const found = resourceNames.find((known) => known === name)
  if (!found) throw new UsageError(`there is nothing like ${name} to ${verb}; there are ${resourceNames.join(', ')}.`)
  return found
}
