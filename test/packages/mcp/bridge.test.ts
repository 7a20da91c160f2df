// @module-tag all

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, it, onTestFinished } from 'vitest'
import { packageRoot } from '../../../src/package.ts'
import { bridge } from '../../../src/packages/mcp/bridge.ts'
import { run } from '../../../src/packages/mcp/program.ts'
import { useTestApp } from '../../kit/app.ts'
import { openHttpServer } from '../../kit/httpServer.ts'
import { parseTable, toolResult } from '../../kit/mcp.ts'
import { runProgram } from '../runProgram.ts'

const api = useTestApp()
const program = join(packageRoot, 'src/packages/mcp/dist/main.js')

it('passes the messages of both generations of clients, and ends a request that the client cancels', async () => {
  const key = await api.account('acme')
  const url = await api.app.listen({ port: 0, host: '127.0.0.1' })
  const connect = async (isModern: boolean, address: string, apiKey: string) => {
    const started = { command: process.execPath, args: [program, '--url', address], env: { TRIBUTARY_KEY: apiKey } }
    const about = { name: 'test', version: '1' }
    const client = isModern ? new Client(about, { versionNegotiation: { mode: 'auto' } }) : new LegacyClient(about)
    onTestFinished(() => client.close())
    await client.connect(
      (isModern ? new StdioClientTransport(started) : new LegacyTransport(started)) as StdioClientTransport,
    )
    return client
  }
  for (const isModern of [true, false]) {
    const client = await connect(isModern, url, key)
    expect((await client.listTools()).tools).toHaveLength(8)
    const days = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    const call = (given: number) =>
      client.callTool({ name: 'get_stats', arguments: { resource: 'stats/daily', days: given } })
    const results = (await Promise.all(days.map(call))).map(toolResult)
    expect(results.map(({ texts }) => parseTable(texts[0]).rows.length)).toEqual(days)
    await expect(client.callTool({ name: 'имя\u2028', arguments: {} })).rejects.toThrow('Unknown tool')
    await expect(connect(isModern, url, 'trb_live_x')).rejects.toThrow('invalid_api_key')
    await expect(connect(isModern, 'http://127.0.0.1:1', key)).rejects.toThrow(
      'http://127.0.0.1:1/api/v1/mcp is not reachable',
    )
  }
})

it('ends a request that the client cancels without a response, or whose client is gone, and refuses other lines', async () => {
  const received: string[] = []
  const server = await openHttpServer((request) => {
    received.push('request')
    request.socket.once('close', () => received.push('end'))
  })
  onTestFinished(() => server.close())
  const [input, output] = [new PassThrough(), new PassThrough()]
  const ended = bridge(`${server.url}/`, 'key', input, output)
  input.write('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_account"}}\n')
  await expect.poll(() => received).toEqual(['request'])
  input.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}\n')
  await expect.poll(() => received).toEqual(['request', 'end'])
  input.write('{"jsonrpc":\n')
  expect(`${await once(output, 'data')}`).toMatch(/-32700.*"id":null}\n$/)
  input.end('{"jsonrpc":"2.0","id":8,"method":"ping"}')
  await expect.poll(() => received.slice(2)).toEqual(['request'])
  expect(await Promise.race([ended, 'runs'])).toBe('runs')
  output.destroy(new Error('EPIPE'))
  await ended
})

it('the command explains wrong arguments with exit code 2, and answers what it has read when its input ends', async () => {
  const url = ['--url', 'http://127.0.0.1:1']
  for (const [words, TRIBUTARY_KEY, expected] of [
    [['--help'], 'x', { code: 0, stdout: expect.stringContaining('Usage: tributary-mcp') }],
    [[], 'x', { code: 2, stderr: expect.stringContaining("'--url <url>' not specified") }],
    [['--url', 'example'], 'x', { code: 2, stderr: expect.stringMatching(/Use an address such as https:/) }],
    [url, '', { code: 2, stderr: expect.stringContaining('TRIBUTARY_KEY: The API key must have 1 to ') }],
    [url, 'a\nb', { code: 2, stderr: 'error: TRIBUTARY_KEY: The API key has a line break; copy it again.\n' }],
  ] as const)
    expect(await runProgram(run, words, { TRIBUTARY_KEY })).toMatchObject(expected)
  const env = { PATH: process.env.PATH, TRIBUTARY_KEY: 'x' }
  const ended = spawnSync(process.execPath, [program, ...url], { env, input: '[]', encoding: 'utf8' })
  expect(ended).toMatchObject({ status: 0, stdout: expect.stringMatching(/not reachable.*"id":null}\n$/), stderr: '' })
})
