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
