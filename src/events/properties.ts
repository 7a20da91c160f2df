import { propertyLimits, storableText } from '../../schema/event.ts'
import { isLonger } from '../../schema/textLength.ts'
import { isJsonObject, toDouble } from '../query/exactJson.ts'
import { noteDigits } from './inexactNumbers.ts'
import { isJsonWithin } from './jsonSize.ts'
import type { Note } from './notes.ts'

type Kept = string | number | boolean

/** Keeps the first 20 properties within the limits, as JSON text, empty for none; notes each dropped one. */
export function keepProperties(given: unknown, note: Note): string {
  if (given === undefined || given === null) return ''
  if (!isJsonObject(given)) {
    note('properties_dropped', 'properties', 'properties must be an object.')
    return ''
  }
  if (!isJsonWithin(given, propertyLimits.bytesMax)) {
    note('properties_dropped', 'properties', `properties is larger than ${propertyLimits.bytesMax / 1024} KiB as JSON.`)
    return ''
  }
  // No prototype, so that no key is special.
  const kept: Record<string, Kept> = Object.create(null)
  let count = 0
  for (const [key, sent] of Object.entries(given)) {
    const field = `properties.${key}`
    const value = toDouble(sent)
    const fault = faultOf(key, value, count)
    if (fault !== undefined) {
      note('property_dropped', field, fault)
      continue
    }
    if (value !== sent) noteDigits(value, field, note)
    const [name, stored] = [storableText(key), typeof value === 'string' ? storableText(value) : value]
    if (name !== key || stored !== value) {
      note('characters_replaced', field, 'U+0000 and unpaired surrogates are stored as U+FFFD.')
    }
    kept[name] = stored as Kept
    count += 1
  }
  return count === 0 ? '' : JSON.stringify(kept)
}

/** @returns why a property is dropped; undefined for one that is kept */
function faultOf(key: string, value: unknown, kept: number): string | undefined {
  const { keysMax, keyLengthMax, textLengthMax } = propertyLimits
  if (kept === keysMax) return `Only the first ${keysMax} valid properties are stored.`
  if (key === 'constructor') return 'This name is reserved.'
  if (isLonger(key, keyLengthMax)) return `The name has more than ${keyLengthMax} characters.`
  if (typeof value === 'string') {
    return isLonger(value, textLengthMax) ? `The text has more than ${textLengthMax} characters.` : undefined
  }
  const isSupported = typeof value === 'boolean' || Number.isFinite(value)
  return isSupported ? undefined : 'The value must be text, a finite number or a boolean.'
}
