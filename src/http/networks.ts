import ipaddr from 'ipaddr.js'

/** Range of addresses as integers, both ends included. */
interface AddressRange {
  first: bigint
  last: bigint
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Length of an address in bits: IPv4 or IPv6. */
type AddressBits = 32 | 128

/** Unicast addresses on the Internet: 1.0.0.0 to 223.255.255.255, and 2000::/3. */
const publicAddresses: Record<AddressBits, AddressRange> = {
  32: { first: 0x01_00_00_00n, last: 0xdf_ff_ff_ffn },
  128: { first: 1n << 125n, last: (1n << 126n) - 1n },
}

/** Whether a text is an address or a network such as `10.0.0.0/8`; `/0` is not allowed. */
export function isNetwork(text: string): boolean {
  // TRAP: `isValid` and `isValidCIDR` of IPv4 accept abbreviations such as `10/8`.
  if (ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)) return true
  const isCidr = ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text)
  return isCidr && ipaddr.parseCIDR(text)[1] > 0
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
  const [address, prefixLength] = parse(network)
  // TRAP: ::ffff:0:0/96 is IPv4 in IPv6 notation, and proxies are compared with it as IPv4.
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && prefixLength >= 96) {
    return { bits: 32, ...rangeAround(address.toIPv4Address(), 32, prefixLength - 96) }
  }
  const bits = bitsOf(address)
  return { bits, ...rangeAround(address, bits, prefixLength) }
}

function parse(network: string): [Address, prefixLength: number] {
  if (network.includes('/')) return ipaddr.parseCIDR(network)
  const address = ipaddr.parse(network)
  return [address, bitsOf(address)]
}

function bitsOf(address: Address): AddressBits {
  return address.kind() === 'ipv4' ? 32 : 128
}

function rangeAround(address: Address, bits: AddressBits, prefixLength: number): AddressRange {
  const value = BigInt(`0x${Buffer.from(address.toByteArray()).toString('hex')}`)
  const hostBits = BigInt(bits - prefixLength)
  const first = (value >> hostBits) << hostBits
  return { first, last: first + (1n << hostBits) - 1n }
}
