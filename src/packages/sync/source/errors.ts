import { TributaryError } from 'tributary-client'

/** A synchronization failed for an expected reason; the message is one line. Exit code 1. */
export class SyncError extends Error {}

/**
 * A failure after which a later run may succeed: a response is not one of the API, since a proxy may have sent it; rows still differ
 * after they were replaced, since they change at the same time; or another run writes to the copy.
 */
export class TemporaryError extends SyncError {}

/**
 * A copy has the rows of one account: rows of another would be mixed with them.
 * @param place what holds the copy, such as `the schema tributary`
 * @throws SyncError
 */
export function assertSameAccount(place: string, ofCopy: string, ofKey: string): void {
  if (ofCopy === ofKey) return
  throw new SyncError(`${place} is a copy of account ${ofCopy}; the key belongs to account ${ofKey}.`)
}

/** Explains that an optional package is missing. @param error of its import */
export function explainMissing(error: NodeJS.ErrnoException, name: string, packageName: string): never {
  if (!error.code?.endsWith('MODULE_NOT_FOUND')) throw error
  throw new SyncError(`${name} is not installed; install ${packageName} beside tributary-sync.`)
}

/** @returns one line; a response may have any characters */
export function errorLine(error: unknown): string {
  if (error instanceof TributaryError) return printable(`${error.message} (${error.status} ${error.code})`)
  if (!(error instanceof Error)) return printable(`${error}`)
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return printable((error.message || error.name).split('\n')[0] + cause)
}

/**
 * @returns text that is safe on a terminal and takes one line: a tab is a space; other invisible characters, such as line feeds and those that
 *   change the direction of text, are written as in JSON, `\u202e`
 */
export function printable(text: string): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text
    .replaceAll('\t', ' ')
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => character.split('').map(escaped).join(''))
}
