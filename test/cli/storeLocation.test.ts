import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { commandLine, storeLocation } from '../../src/cli/storeLocation.ts'
import { readSettings } from '../../src/settings/settings.ts'

const servers = readSettings({
  DATABASE_URL: 'postgres://user:s3cret%40@one:5432,two:5432/production?password=s3cret#x',
  CLICKHOUSE_URL: 'https://user:s3cret@clickhouse:8443/clicks',
})

describe('the location of stores', () => {
  it('names servers without passwords, and the folder if one store is embedded', () => {
    expect(storeLocation(servers)).toBe(
      'PostgreSQL one:5432,two:5432/production (DATABASE_URL) and ClickHouse clickhouse:8443/clicks (CLICKHOUSE_URL)',
    )
    const { DATABASE_URL: _, ...half } = { ...servers, DATA_DIR: '/srv/data' }
    expect(storeLocation(half)).toBe('ClickHouse clickhouse:8443/clicks (CLICKHOUSE_URL) and /srv/data (DATA_DIR)')
  })
})

it('the command line of a store survives a shell, whatever the name of its folder', () => {
  const folder = "/srv/it's $HOME; data"
  const line = commandLine(readSettings({ DATA_DIR: folder })).replace(/ node .*/, ' printenv DATA_DIR')
  expect(execFileSync('sh', ['-c', line], { encoding: 'utf8' })).toBe(`${folder}\n`)
  expect(commandLine(servers)).toMatch(/^node .+\/dist\/src\/main\.js'?$/)
})
