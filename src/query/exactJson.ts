import { randomUUID } from 'node:crypto'

/** The text of a number, where a double would lose digits. */
export class DecimalText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** The nearest double. */
  toJSON(): number {
    return Number(this.text)
  }
}

/** Marks the text of a number; random, so that no JSON has it. */
const mark = randomUUID()

/**
 * Parses JSON, and keeps the texts of some numbers, which JSON.parse of Node 20 does not pass to the reviver.
 * @param pattern global; it matches each text of the JSON, and the numbers that may be kept
 * @param isKept decides whether a number becomes a `DecimalText`
 * @param parse as JSON.parse; it gets an object for each of these numbers, since invalid JSON then remains invalid
 * @throws what `parse` throws
 */
export function parseExactly(
  json: string,
  pattern: RegExp,
  isKept: (token: string) => boolean,
  parse: (json: string) => unknown = JSON.parse,
): unknown {
  const marked = json.replace(pattern, (token) =>
    token[0] !== '"' && isKept(token) ? `{"${mark}":"${token}"}` : token,
  )
  if (marked === json) return parse(json)
  const root: Record<string, unknown> = { value: parse(marked) }
  const objects = [root]
  // Not recursive: a value may be nested more deeply than the stack allows.
  for (const object of objects) {
    // TRAP: `Object.entries` of an array takes five times as long.
    for (const key of Array.isArray(object) ? object.keys() : Object.keys(object)) {
      const value = object[key] as Record<string, unknown> | null
      if (typeof value !== 'object' || value === null) continue
      const text = value[mark]
      if (typeof text === 'string') object[key] = new DecimalText(text)
      else objects.push(value)
    }
  }
  return root.value
}

/**
 * A number whose text a double may not give back: 16 digits or more, an exponent, a zero at the end of its decimals, or six at their
 * beginning, as the double 1e-7 is written with an exponent. The colon of a field follows a quote: times in strings have colons too.
 */
const inexact = /(?:"\s*:|[,[])\s*-?(?:[0-9.]{16}|[0-9.]+[eE]|\d+\.\d*0(?!\d)|0\.0{6})/
/** TRAP: with a required closing quote, a text without one would take quadratic time. */
const textOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/gs

/**
 * Parses JSON; a number whose text a double does not give back is a `DecimalText`.
 * @param isExact decides by the value with doubles, if there are such numbers; without it they are read exactly
 * @throws SyntaxError
 */
export function parseJson(text: string, isExact?: (plain: unknown) => boolean): unknown {
  if (!inexact.test(text)) return JSON.parse(text)
  const plain: unknown = isExact && JSON.parse(text)
  return isExact?.(plain) === false ? plain : parseExactly(text, textOrNumber, isWrittenOtherwise)
}

const isWrittenOtherwise = (token: string): boolean => isNumberText(token) && `${Number(token)}` !== token

/** Whether a value of parsed JSON is an object. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof DecimalText)
}

/** @returns a text, or the digits of a number; undefined for another value */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return `${value}`
  return value instanceof DecimalText ? value.text : undefined
}

/** @returns the nearest double of a `DecimalText`, any other value as it is */
export function toDouble(value: unknown): unknown {
  return value instanceof DecimalText ? Number(value.text) : value
}

/** Whether a number is another one than its nearest double. */
export function losesDigits(text: string): boolean {
  const [exact, near] = [partsOf(text), partsOf(`${Number(text)}`)]
  return exact?.digits !== near?.digits || exact?.decimals !== near?.decimals
}

const grammar = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** Whether a text is a JSON number. */
export function isNumberText(text: string): boolean {
  return grammar.test(text)
}

/** @returns the digits of a number without zeros at their ends, `0` for zero; undefined for another text */
export function partsOf(text: string): { sign: string; digits: string; decimals: number } | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = grammar.exec(text) ?? []
  if (sign === undefined) return undefined
  const significant = (whole + fraction).replace(/^0+/, '')
  if (significant === '') return { sign: '', digits: '0', decimals: 0 }
  // Not by a pattern such as /0*$/, which takes quadratic time in runs of zeros.
  let length = significant.length
  while (significant[length - 1] === '0') length -= 1
  const zeros = significant.length - length
  return { sign, digits: significant.slice(0, length), decimals: fraction.length - zeros - Number(exponent) }
}
