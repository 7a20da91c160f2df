import { once } from 'node:events'
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { freePort } from '../../../kit/serverProcess.ts'

/** A proxy in front of a server, which counts requests. */
export interface RequestProxy {
  readonly url: string
  /** Port of the server behind it. */
  readonly port: number
  /** Paths with queries, since the start or since `paths` was emptied. */
  readonly paths: string[]
  /** Resolves when that many more requests have arrived; the last of them is not forwarded yet. */
  after(count: number): Promise<void>
  close(): Promise<void>
}

/** Opens a proxy in front of a server that need not run: a request to a server that does not listen is reset. */
export async function openRequestProxy(): Promise<RequestProxy> {
  const port = await freePort()
  const paths: string[] = []
  const waiting = new Set<{ missing: number; reached: () => void }>()
  const proxy = createServer(async (incoming, outgoing) => {
    paths.push(incoming.url ?? '')
    for (const one of waiting) {
      one.missing -= 1
      if (one.missing > 0) continue
      waiting.delete(one)
      one.reached()
      // A test that waits for the request acts before it is forwarded.
      await new Promise(setImmediate)
    }
    const { method, url, headers } = incoming
    const forwarded = forward({ host: '127.0.0.1', port, method, path: url, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 0, response.headers)
      response.pipe(outgoing)
      response.on('error', () => outgoing.destroy())
      response.on('aborted', () => outgoing.destroy())
    })
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    port,
    paths,
    after: (count) => new Promise((reached) => waiting.add({ missing: count, reached })),
    async close() {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
