import { isIPv6 } from 'node:net'

/**
 * Returns the network of a caller: its IPv4 address, or its 64-bit IPv6 network, in which one client can have
 * any number of addresses.
 * @param peer - the caller's address with a port.
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
