import { isIPv6 } from 'node:net'

/**
 * The network of a caller: its IPv4 address, or its IPv6 network of 64 bits, in which one client can have any
 * number of addresses.
 * @param peer - its address, with a port behind it.
 */
export const networkOf = (peer: string): string => {
  const address = peer.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const [left, right] = [groups(head), groups(tail ?? '')]
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  const all = tail === undefined ? left : [...left, ...zeros, ...right]
  return `${all.slice(0, 4).join(':')}::/64`
}
