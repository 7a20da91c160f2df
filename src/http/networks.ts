import { isIP } from 'node:net'

/** Range of addresses as integers, both ends included. */
interface AddressRange {
  first: bigint
  last: bigint
}

/** Length of an address in bits: IPv4 or IPv6. */
type AddressBits = 32 | 128

/** Unicast addresses on the Internet: 1.0.0.0 to 223.255.255.255, and 2000::/3. */
const publicAddresses: Record<AddressBits, AddressRange> = {
  32: { first: 0x01_00_00_00n, last: 0xdf_ff_ff_ffn },
  128: { first: 1n << 125n, last: (1n << 126n) - 1n },
}

/** Whether a text is an address or a network such as `10.0.0.0/8`; `/0` is not allowed. */
export function isNetwork(text: string): boolean {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  return version !== 0 && Number(prefix ?? 1) >= 1 && Number(prefix ?? 1) <= (version === 4 ? 32 : 128)
}

/**
 * Whether the networks together contain every public IPv4 address or every public IPv6 address.
 * @param networks texts that `isNetwork` accepts
 */
export function coverEveryAddress(networks: readonly string[]): boolean {
  const ranges: Record<AddressBits, AddressRange[]> = { 32: [], 128: [] }
  for (const network of networks) {
    const { bits, ...range } = rangeOf(network)
    ranges[bits].push(range)
  }
  return ([32, 128] as const).some((bits) => covers(ranges[bits], publicAddresses[bits]))
}

function covers(ranges: AddressRange[], whole: AddressRange): boolean {
  let next = whole.first
  for (const { first, last } of ranges.sort((a, b) => (a.first < b.first ? -1 : 1))) {
    if (first > next) break
    if (last >= next) next = last + 1n
  }
  return next > whole.last
}

function rangeOf(network: string): AddressRange & { bits: AddressBits } {
  const [address = '', prefix] = network.split('/')
  const isV4 = isIP(address) === 4
  const value = isV4 ? valueOfV4(address) : valueOfV6(address)
  const prefixLength = Number(prefix ?? (isV4 ? 32 : 128))
  // TRAP: ::ffff:0:0/96 is IPv4 in IPv6 notation, and proxies are compared with it as IPv4.
  if (!isV4 && value >> 32n === 0xffffn && prefixLength >= 96) {
    return { bits: 32, ...rangeAround(BigInt.asUintN(32, value), 32, prefixLength - 96) }
  }
  const bits = isV4 ? 32 : 128
  return { bits, ...rangeAround(value, bits, prefixLength) }
}

function rangeAround(address: bigint, bits: AddressBits, prefixLength: number): AddressRange {
  const hostBits = BigInt(bits - prefixLength)
  const first = (address >> hostBits) << hostBits
  return { first, last: first + (1n << hostBits) - 1n }
}

function valueOfV4(address: string): bigint {
  return address.split('.').reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
}

function valueOfV6(address: string): bigint {
  // URL normalizes IPv6 addresses to groups of hexadecimal digits, the last 32 bits too; the zone is dropped.
  const { hostname } = new URL(`http://[${address.replace(/%.*/, '')}]`)
  const [head = '', tail] = hostname.slice(1, -1).split('::')
  const groupsOf = (part: string) => (part === '' ? [] : part.split(':'))
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')]
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after].reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n)
}
