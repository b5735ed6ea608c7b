import { Failure } from '../idp-failure.js'
import { isLoopback } from '../clients/origins.js'

/** Options of `startProvider`. */
export interface ProviderOptions {
  /** The port. Default: 8080; 0 selects a free port. */
  readonly port?: number
  /** The issuer. Default: `http://127.0.0.1:<port>`. */
  readonly issuer?: string
  /** The host name that the local HTTPS proxy assigns to the provider. Default: `idp.dev.test`. */
  readonly host?: string
  /**
   * The clients file. Default: `idp-clients.yaml`. A file that ends with `.local.yaml` next to it takes
   * precedence.
   */
  readonly clients?: string
  /** The users file. Default: `idp-users.yaml`. */
  readonly users?: string
  /** The folder for keys and sessions. Default: `.ashlar-idp`. */
  readonly state?: string
  /** Receives messages for the user. Default: they are printed to stderr. */
  readonly warn?: (text: string) => void
  /** Returns the time in milliseconds since the epoch. Default: the system's clock. */
  readonly now?: () => number
}

export const DEFAULT_PORT = 8080
export const DEFAULT_HOST = 'idp.dev.test'

/**
 * @throws Failure unless the string is an http or https origin.
 */
export function issuerOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || text !== url.origin)
    throw new Failure(
      `--issuer "${text}" is not an origin: write it like http://127.0.0.1:${DEFAULT_PORT}, without a path or a trailing slash`,
    )
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new Failure(`--issuer "${text}" is not on this machine: ${ONLY_LOOPBACK}`)
  return url.origin
}

/**
 * @throws Failure unless the string is a host name.
 */
export function hostOf(text: string): string {
  const url = URL.canParse(`http://${text}/`) ? new URL(`http://${text}/`) : undefined
  const isAddress = url !== undefined && (/^[\d.]+$/.test(url.hostname) || url.hostname.startsWith('['))
  if (isAddress && !isLoopback(url.hostname))
    throw new Failure(`--host "${text}" is a network address: ${ONLY_LOOPBACK}`)
  if (url === undefined || url.host !== text.toLowerCase() || url.port !== '')
    throw new Failure(`--host "${text}" is not a host name: write it like ${DEFAULT_HOST}`)
  return url.hostname
}

/**
 * @throws Failure unless the string is a port number.
 */
export function portOf(text: string, where: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1
  if (port < 0 || port > 65_535)
    throw new Failure(`${where} "${text}" is not a port: write a number from 0 to 65535`)
  return port
}

const ONLY_LOOPBACK =
  'the provider has no passwords, so it only listens on this machine (127.0.0.1 and ::1). In a container, share its network namespace with its users: docker run --network container:<name>, or network_mode: "service:<name>" in a compose file'
