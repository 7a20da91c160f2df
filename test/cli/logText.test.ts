import { expect, it } from 'vitest'
import { logText } from '../../src/cli/logText.ts'
import { openLog } from '../../src/http/logging.ts'

function textOf(write: (log: ReturnType<typeof openLog>) => void): string {
  const texts: string[] = []
  write(openLog('trace', { write: (line) => void texts.push(logText(line)) }))
  return texts.join('')
}

it('a log as text has time, level, message and fields, quoted unless they are one word', () => {
  const text = textOf((log) => log.warn({ status: 503, url: '/a?b=c', who: 'x y', plain: 'word' }, 'request completed'))
  expect(text).toMatch(
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z WARN {2}request completed status=503 url="\/a\?b=c" who="x y" plain=word\n$/,
  )
})

it('a log as text puts the stack of an error on lines of its own, and control characters are escaped', () => {
  const text = textOf((log) => log.error(new Error('broken \u001b[31m\u009b2J')))
  const [first, second, ...others] = text.trimEnd().split('\n')
  expect(first).toMatch(/Z ERROR broken \\u001b\[31m\\u009b2J$/)
  expect(second).toBe('    Error: broken \\u001b[31m\\u009b2J')
  expect(others.length).toBeGreaterThan(1)
  for (const line of others) expect(line).toMatch(/^ {8}at /)
})
