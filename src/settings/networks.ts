import ipaddr from 'ipaddr.js'

/** Range of addresses as integers of 128 bits, both ends included. IPv4 is IPv4-mapped IPv6: ::ffff:0:0/96. */
type AddressRange = { first: bigint; last: bigint }

/** Unicast addresses on the Internet: 1.0.0.0 to 223.255.255.255, and 2000::/3. */
const publicRanges: readonly AddressRange[] = [
  { first: 0xffff_0100_0000n, last: 0xffff_dfff_ffffn },
  { first: 1n << 125n, last: (1n << 126n) - 1n },
]

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
  const ranges = networks.map(addressRangeOf).sort((a, b) => (a.first < b.first ? -1 : 1))
  return publicRanges.some((whole) => {
    let next = whole.first
    for (const { first, last } of ranges) if (first <= next && last >= next) next = last + 1n
    return next > whole.last
  })
}

/** Characters of `X-Forwarded-For` that are read, at its end: proxies append the address of their client. */
const forwardedMax = 1_000

/**
 * Removes the ports of addresses, which some proxies add, and the brackets of IPv6 addresses.
 * @param forwardedFor a value of `X-Forwarded-For`, such as `203.0.113.7:51234, [2001:db8::1]:443`
 */
export function withoutPorts(forwardedFor: string): string {
  const addresses = forwardedFor.slice(-forwardedMax).split(',')
  return addresses.map((text) => text.trim().replace(/^([\d.]+):\d*$|^\[([^\]]*)\](?::\d*)?$/, '$1$2')).join(', ')
}

function addressRangeOf(network: string): AddressRange {
  const [text = '', prefixLength] = network.split('/')
  const address = ipaddr.parse(text)
  const isIPv4 = address instanceof ipaddr.IPv4
  const bytes = (isIPv4 ? address.toIPv4MappedAddress() : address).toByteArray()
  const hostBits = prefixLength === undefined ? 0n : BigInt((isIPv4 ? 32 : 128) - Number(prefixLength))
  const first = (BigInt(`0x${Buffer.from(bytes).toString('hex')}`) >> hostBits) << hostBits
  return { first, last: first + (1n << hostBits) - 1n }
}
