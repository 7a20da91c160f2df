import type { Hash } from 'node:crypto'

/** @param hash SHA-256 of the content @returns its weak ETag; the same for every content coding of a response */
export function etagOf(hash: Hash): string {
  return `W/"${hash.digest('base64url').slice(0, 27)}"`
}

/** Whether `If-None-Match` matches this ETag; weak comparison (RFC 9110, 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || opaque(tag.trim()) === opaque(etag))
}

const opaque = (etag: string): string => etag.replace(/^W\//, '')
