import { createHash } from 'node:crypto'

/** @returns a weak ETag of the content; the same for every content coding of a response */
export function etagOf(content: string | Buffer): string {
  return `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`
}

/** Whether `If-None-Match` matches this ETag; weak comparison (RFC 9110, 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || opaque(tag.trim()) === opaque(etag))
}

const opaque = (etag: string): string => etag.replace(/^W\//, '')
