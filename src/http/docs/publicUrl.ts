import type { Settings } from '../../settings.ts'
import type { App } from '../context.ts'

/**
 * Address under which clients reach the server, without a slash at the end: PUBLIC_URL, else the address that it listens
 * on. Never taken from a request, because any client can send any `Host` header.
 */
export function publicUrlOf(app: App, { PUBLIC_URL, HOST, PORT }: Settings): string {
  if (PUBLIC_URL !== undefined) return PUBLIC_URL
  const address = app.server.address()
  const port = typeof address === 'object' && address ? address.port : PORT
  return `http://${connectableHost(HOST)}:${port}`
}

/** A wildcard address can be listened on, but not connected to. */
function connectableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
