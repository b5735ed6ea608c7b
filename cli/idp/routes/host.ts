import { isIP, isIPv6 } from 'node:net'
import { Failure } from '../../errors/failure.js'

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/
const LONGEST_HOST = 253

/**
 * Returns the host as in a URL: in lower case, and an IPv6 address in brackets.
 * @throws Failure if it is not the full name of one host. `where` names the flag or the field.
 */
export function canonicalHost(text: string, where: string): string {
  const written = isIPv6(text) ? `[${text}]` : text.replace(/\.$/, '')
  const url = URL.canParse(`https://${written}/`) ? new URL(`https://${written}/`) : undefined
  if (url === undefined || url.href !== `https://${url.hostname}/`)
    throw new Failure('input', `${where}: "${text}" is not a host: write a bare name such as app.dev.test`)
  const { hostname } = url
  if (isAddress(hostname)) return hostname
  const labels = hostname.split('.')
  if (hostname.length > LONGEST_HOST || !labels.every((label) => LABEL.test(label)))
    throw new Failure('input', `${where}: "${text}" is not a host name: use letters, digits, - and dots`)
  if (labels.length === 1)
    throw new Failure(
      'input',
      `${where}: "${text}" has no dot: write the full name, such as ${hostname}.dev.test`,
    )
  return hostname
}

/** Returns true if the canonical host is an IP address, which has no labels to name an app. */
export const isAddress = (host: string): boolean => isIP(host.replaceAll(/[[\]]/g, '')) !== 0
