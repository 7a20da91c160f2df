import { InvalidArgumentError } from 'commander'

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
