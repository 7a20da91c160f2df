import { join } from 'node:path'
import type { App } from '../../src/http/context.ts'
import { packageRoot } from '../../src/package.ts'
import { getFrom } from '../kit/app.ts'
import { fromSums } from '../properties/lives.ts'

export interface StoreRecord {
  version: string
  /** By account. */
  keys: Record<string, string>
  /** By account and path; without the time of the request. */
  responses: Record<string, Record<string, unknown>>
}

export const storesFolder = join(packageRoot, 'test/upgrades/stores')
export const storeFolder = (version: string) => join(storesFolder, version)

/** The time of the request, and what version 1.2 added. */
const isLeftOut = (name: string, value: unknown) =>
  ['asOf', 'dataThrough', 'next'].includes(name) || (name === 'retainedFrom' && value === null)

const lists = ['/clicks', '/events', '/campaigns', '/offers'].map((path) => `${path}?limit=200`)

export async function readResponses(app: App, key: string): Promise<Record<string, unknown>> {
  const responses: Record<string, unknown> = {}
  for (const path of [...fromSums, ...lists]) {
    const response = await getFrom(app, path, key)
    responses[path] = JSON.parse(response.body, (name, value) => (isLeftOut(name, value) ? undefined : value))
  }
  return responses
}
