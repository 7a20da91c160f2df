import { expect, it } from 'vitest'
import { readSettings } from '../../src/settings/settings.ts'

it('names the invalid variable in one line, and never shows a password', () => {
  for (const [name, value, shown] of [
    ['CLICKHOUSE_URL', 'clickhouse://user:hush@db:9000/x', 'clickhouse://…@db:9000/x'],
    ['CLICKHOUSE_URL', 'http://user:hush%zz@db:8123/x', 'http://…@db:8123/x'],
    ['CLICKHOUSE_READER_URL', 'user:hush@db', '…@db'],
    ['DATABASE_URL', 'mysql://root:hu@sh@db/x', 'mysql://…@db/x'],
    ['DATABASE_URL', 'postgres://root:hush@db:port/x', 'postgres://…@db:port/x'],
    ['REDIS_URL', 'redis://:hush@db:99999999', 'redis://…@db:99999999'],
  ] as const) {
    const line = new RegExp(`^${name}=${shown.replaceAll('?', '\\?')}: .+\\.$`)
    expect(() => readSettings({ [name]: value })).toThrow(line)
  }
  expect(() => readSettings({ PORT: '70000' })).toThrow(/^PORT=70000: /)
})

it('names the values that a setting accepts', () => {
  expect(() => readSettings({ RATE_LIMIT_WITHOUT_REDIS: 'maybe' })).toThrow(
    'RATE_LIMIT_WITHOUT_REDIS=maybe: expected one of open, closed.',
  )
  for (const value of ['abc', '70000', '-1', '1.5'])
    expect(() => readSettings({ PORT: value })).toThrow(`PORT=${value}: expected a whole number from 0 to 65535.`)
})

it('accepts every address that the drivers accept', () => {
  for (const [name, value] of [
    ['CLICKHOUSE_URL', 'https://user:p%40ss@db.example.com:8443/tributary'],
    ['DATABASE_URL', 'postgres://user:p,w@one:5432,two:5432/tributary?sslmode=require'],
    ['DATABASE_URL', 'postgresql://localhost'],
    ['REDIS_URL', 'rediss://:pass@cache:6380/1'],
  ] as const)
    expect(readSettings({ [name]: value })).toMatchObject({ [name]: value })
})
