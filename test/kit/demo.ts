import { fillDemo } from '../../src/cli/demoData/fill.ts'
import { demoOf } from '../../src/cli/demoData/visits.ts'
import { type TestApp, testNowMs } from './app.ts'

/** Creates an account with the rows of a demo that ends at the present time of tests. @returns its key */
export async function makeDemoAccount(
  { account, stores }: TestApp,
  id: string,
  size: { clicks: number; days: number },
): Promise<string> {
  const key = await account(id)
  const of = { id, name: id, plan: 'scale', currency: 'USD', createdAt: new Date(testNowMs) }
  const demo = demoOf({ seed: 1, ...size, nowMs: testNowMs, currency: 'USD' })
  const { signal } = new AbortController()
  await fillDemo(stores, of, demo, { onMessage: () => {}, signal, onProgress: () => {} })
  return key
}
