import { isNumberText, parseExactly } from '../../query/exactJson.ts'

/**
 * A number whose text a double may not give back: 16 digits or more, an exponent, a zero at the end of its decimals, or six at their
 * beginning, as the double 1e-7 is written with an exponent. The colon of a field follows a quote: times in strings have colons too.
 */
const inexact = /(?:"\s*:|[,[])\s*-?(?:[0-9.]{16}|[0-9.]+[eE]|\d+\.\d*0(?!\d)|0\.0{6})/
/** TRAP: with a required closing quote, a text without one would take quadratic time. */
const textOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/gs

/**
 * Parses JSON; a number whose text a double does not give back is a `DecimalText`.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  return inexact.test(text) ? parseExactly(text, textOrNumber, isWrittenOtherwise) : JSON.parse(text)
}

const isWrittenOtherwise = (token: string): boolean => isNumberText(token) && `${Number(token)}` !== token
