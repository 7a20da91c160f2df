import type { App } from './context.ts'

/** Pages replace the content security policy. No `includeSubDomains`: other subdomains may not support TLS. */
const securityHeaders = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
} as const

/** Adds the request id and the security headers to every response. */
export function addCommonHeaders(app: App): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).headers(securityHeaders)
    done()
  })
}

/**
 * The content security policy of a page that loads scripts, data and images from this server only.
 * @param styles further sources of styles, besides this server
 */
export function pageCsp(...styles: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    ['style-src', "'self'", ...styles].join(' '),
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
