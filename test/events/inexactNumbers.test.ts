import { expect, it } from 'vitest'
import { parseEvents } from '../../src/events/inexactNumbers.ts'

it('120,000 short numbers with an exponent take at most 6 times the CPU time of JSON.parse', () => {
  const body = `{"a":[${Array(120_000).fill('1.5e1').join()}],"b":1e1}`
  // The system measures CPU time too coarsely for one call.
  const cost = (read: (text: string) => unknown) => {
    const before = process.cpuUsage()
    for (let n = 0; n < 20; n++) read(body)
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  expect(cost((text) => parseEvents(text, JSON.parse))).toBeLessThan(6 * cost(JSON.parse))
})
