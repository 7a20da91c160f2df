import { batchLimits } from '../../../schema/eventBatch.ts'
import { Problem } from '../../problem.ts'

/**
 * Checks a JSON text before it is parsed: each value takes parsing time and memory, however few bytes it has.
 * @param json valid or invalid JSON
 * @param marksBefore marks in the parts of the body before this text
 * @returns the number of marks in the body so far
 * @throws Problem `payload_too_large` above `marksMax` or `depthMax`
 */
export function countMarks(json: string, marksBefore = 0): number {
  const { marksMax, depthMax } = batchLimits
  let marks = marksBefore
  let depth = 0
  forEachMark(json, (mark) => {
    marks += 1
    if ('[{'.includes(mark)) depth += 1
    if (']}'.includes(mark)) depth -= 1
    if (marks > marksMax) throw tooComplex(`has more than ${marksMax} commas, colons and brackets outside texts`)
    if (depth > depthMax) throw tooComplex(`has more than ${depthMax} nested levels`)
  })
  return marks
}

/** Whether a character is a mark, by its code: looking it up takes no longer than reading it. */
const isMark = Array.from({ length: 128 }, (_, code) => '[]{},:'.includes(String.fromCharCode(code)))

/** Calls `visit` for each comma, colon and bracket outside texts. @param json valid or invalid JSON */
function forEachMark(json: string, visit: (mark: string) => void): void {
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === 0x22) at = endOfText(json, at)
    else if (code < isMark.length && isMark[code]) visit(json.charAt(at))
  }
}

/** @returns the position of the closing quotation mark, or the length when there is none */
function endOfText(json: string, start: number): number {
  let at = start + 1
  while (at < json.length) {
    const code = json.charCodeAt(at)
    if (code === 0x22) break
    // A backslash escapes the next character.
    at += code === 0x5c ? 2 : 1
  }
  return at
}

function tooComplex(rest: string): Problem {
  return new Problem('payload_too_large', `The body ${rest}; send smaller batches with less nested values.`)
}
