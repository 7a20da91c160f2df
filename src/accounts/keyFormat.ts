import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** Prefixes of keys, for secret scanners: the second one of keys that see a part of their account. Their length is equal. */
const keyStarts = ['trb_live_', 'trb_part_'] as const

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretLength = 30
const checksumLength = 6
const keyPattern = new RegExp(`^(?:${keyStarts.join('|')})[0-9A-Za-z]{${secretLength + checksumLength}}$`)

/** Creates a key: 178 random bits and a checksum, so that most invalid keys need no look-up. */
export function makeKeyText(isPart = false): string {
  const keyStart = keyStarts[isPart ? 1 : 0]
  let secret = ''
  while (secret.length < secretLength) secret += digits[randomInt(digits.length)]
  return keyStart + secret + checksumOf(keyStart + secret)
}

/** Whether a text has the format and the checksum of a key; the key may not exist. */
export function isKeyText(text: string): boolean {
  return keyPattern.test(text) && checksumOf(text.slice(0, -checksumLength)) === text.slice(-checksumLength)
}

/** @returns SHA-256 of a key, 32 bytes in hexadecimal; only the hash is stored */
export const hashOfKey = (text: string): string => hash('sha256', text, 'hex')

/** @returns the part of a key that may be displayed: `trb_live_` or `trb_part_`, and 4 characters */
export const prefixOfKey = (text: string): string => text.slice(0, keyStarts[0].length + 4)

/** One letter or digit, percent-encoded any number of times: `%41`, `%2541`, `%252541`, … */
const encodedAlphanumeric = '%(?:25)*(?:3[0-9]|[46][1-9a-f]|[57][0-9a])'
const encodedStarts = keyStarts.map((start) => [...start].map(orEncoded).join(''))
const keyInText = new RegExp(`(${encodedStarts.join('|')})(?:[0-9a-z]|${encodedAlphanumeric})+`, 'gi')

/** Masks the secret of every key in a text, such as a URL for the log; also in another case or percent-encoded, even repeatedly. */
export function hideKeys(text: string): string {
  return text.replace(keyInText, '$1…')
}

/** A pattern of one character in either case, plain or percent-encoded any number of times. */
function orEncoded(character: string): string {
  const codes = new Set([character, character.toUpperCase()].map((it) => it.charCodeAt(0).toString(16)))
  return `(?:${character}|%(?:25)*(?:${[...codes].join('|')}))`
}

/** CRC-32 (IEEE) of a text as 6 base62 digits, most significant first. */
function checksumOf(text: string): string {
  let remainder = crc32(text)
  let encoded = ''
  while (encoded.length < checksumLength) {
    encoded = digits[remainder % digits.length] + encoded
    remainder = Math.floor(remainder / digits.length)
  }
  return encoded
}
