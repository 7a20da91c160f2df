import { TributaryError } from './error.ts'

/** The API reads no longer one. */
const lengthMax = 512

/**
 * Checks a key or token before it is sent: the message of a HTTP library about an invalid header has it in it.
 * @returns the key without white space around it, which copying often adds
 * @throws TributaryError `invalid_api_key`, without any part of the key
 */
export function checkedKey(apiKey: string, name = 'API key'): string {
  const key = `${apiKey}`.trim()
  if (key.length <= lengthMax && /^[\x21-\x7e]+$/.test(key)) return key
  const fault =
    key === '' || key.length > lengthMax
      ? `must have 1 to ${lengthMax} characters`
      : `has ${/[\r\n]/.test(key) ? 'a line break' : 'a space or another character that no key has'}`
  throw new TributaryError(401, { error: 'invalid_api_key', message: `The ${name} ${fault}; copy it again.` })
}
