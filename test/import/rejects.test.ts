import { execFileSync, spawn } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { openRejectsFile, RejectReasons } from '../../src/import/rejects.ts'
import { useFolder } from '../kit/fixtures.ts'

const folder = useFolder()

it('the file of rejected rows ends at 100 MB with a line that says so', async () => {
  const path = folder('rejects')
  const rejects = openRejectsFile(path, () => {})
  const row = 'x'.repeat(1 << 20)
  for (let line = 1; line <= 200; line += 1) await rejects.add({ line, reason: 'is not JSON', row })
  await rejects.close()
  const { size } = await stat(path)
  expect(size).toBeGreaterThan(98_000_000)
  expect(size).toBeLessThan(100_001_000)
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
  expect(lines).toHaveLength(96)
  expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
    line: 96,
    reason: 'this list ends at 100 MB: this row and rejected rows after it are not listed',
    row: null,
  })
})

it('the file of rejected rows is readable by its user alone, also where another one could read the list before', async () => {
  const path = folder('replaced')
  await writeFile(path, 'earlier', { mode: 0o644 })
  const modeOf = async (file: string) => (await stat(file)).mode & 0o777
  const device = await modeOf('/dev/null')
  for (const file of [path, '/dev/null']) {
    const rejects = openRejectsFile(file, () => {})
    await rejects.add({ line: 1, reason: 'is not JSON', row: 'private' })
    await rejects.close()
  }
  expect([await modeOf(path), await modeOf('/dev/null')]).toEqual([0o600, device])
})

it('a pipe whose reader begins late does not block the process, and receives every rejected row in order', async () => {
  const path = folder('pipe')
  execFileSync('mkfifo', [path])
  const reader = spawn('sh', ['-c', 'sleep 1; exec cat "$0"', path])
  let read = ''
  reader.stdout.on('data', (chunk) => (read += chunk))
  const closed = new Promise((resolve) => reader.once('close', resolve))
  let ticks = 0
  const timer = setInterval(() => (ticks += 1), 10)
  const rejects = openRejectsFile(path, () => {})
  const row = 'x'.repeat(1 << 16)
  await Promise.all([1, 2, 3].map((line) => rejects.add({ line, reason: 'is not JSON', row })))
  clearInterval(timer)
  await rejects.close()
  await closed
  expect(ticks).toBeGreaterThan(1)
  const lines = read.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).line)).toEqual([1, 2, 3])
})

it('the summary of reasons counts the rows of reasons that it does not show, and shows the beginning of a long row', () => {
  const reasons = new RejectReasons()
  for (let line = 1; line <= 3_000; line += 1)
    reasons.add([`reason ${line}`], { line, row: `a\t\u009b2J${'x'.repeat(1_000)}` })
  const summary = reasons.summary()
  expect(summary[0]).toBe('Rejected rows: 3000. Most frequent reasons:')
  expect(summary[2]).toBe(`      line 1: a \\u009b2J${'x'.repeat(195)}…`)
  expect(summary.at(-1)).toBe('  2995 × other reasons')
  expect(summary).toHaveLength(12)
})
