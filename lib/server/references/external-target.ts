import { problem, type Problem } from '../../errors.js'
import type { DescService } from '@bufbuild/protobuf'
import { type Channel, ChannelCredentials } from '@grpc/grpc-js'
import { createChannel } from 'nice-grpc'
/** PEM as a string or bytes. @inline */
type Pem = string | Buffer

/** The address and credentials of another process that serves a resource type. */
export interface ExternalTargetOptions {
  /** The service with the BatchGet of the type. Default: the one in the resource's .proto file. */
  readonly service?: DescService
  /**
   * TLS of the connection. `true` trusts the system's certificate authorities; `false` sends credentials
   * unencrypted. Default: `true`, except for a loopback address.
   */
  readonly tls?: boolean | ExternalTls
  /** Names of metadata to send in addition to `authorization`, such as `x-api-key`. */
  readonly metadata?: readonly string[]
  /** Maximum number of keys in one BatchGet. Default: 1000. */
  readonly batchSize?: number
  /**
   * Services of the target whose HTTP routes this server's gateway also serves. Their calls are forwarded.
   * The target authenticates, authorizes and rate-limits them; this server's interceptors do not run.
   * Default: none.
   */
  readonly proxy?: readonly DescService[]
}

/** TLS options for another process. */
export interface ExternalTls {
  /** The certificate authorities to trust instead of the system's. */
  readonly ca?: Pem
  /** This server's certificate with its intermediate certificates, if the target requires one. */
  readonly certificateChain?: Pem
  readonly privateKey?: Pem
}

/** A resource type that another process serves. */
export interface ExternalTarget {
  readonly type: string
  /** Undefined if it is not known yet. */
  readonly address: string | undefined
  readonly service: DescService | undefined
  readonly metadata: readonly string[]
  readonly batchSize: number
  readonly proxy: readonly DescService[]
  readonly problems: readonly Problem[]
  /** Returns the channel, which connects on first use, to the recorded address only. */
  channel(): Channel
  close(): void
}

const MAX_BATCH = 1000
const ADDRESS = /^(\[[0-9a-fA-F:.]+\]|[^\s:/]+):\d{1,5}$/
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]):\d+$/
const NAME = /^(?!grpc-|:)[a-z0-9_.-]+(?<!-bin)$/

/**
 * Disables proxies and service configuration, so that nothing between the two servers receives the
 * credentials or redirects them.
 */
const DIRECT = { 'grpc.enable_http_proxy': 0, 'grpc.service_config_disable_resolution': 1 }

export function externalTarget(
  type: string,
  address: string | undefined,
  { service, tls, metadata = [], batchSize = MAX_BATCH, proxy = [] }: ExternalTargetOptions,
): ExternalTarget {
  let channel: Channel | undefined
  const where = `the external reference target ${type}`
  const [credentials, tlsProblem] = credentialsOf(tls ?? !LOOPBACK.test(address ?? ''))
  return {
    type,
    address,
    service,
    metadata: ['authorization', ...metadata],
    batchSize,
    proxy,
    problems: [
      ...(address !== undefined && !ADDRESS.test(address)
        ? [
            problem(
              'reference',
              `the address "${address}" of ${where} is not host:port, such as stock.internal:9090`,
            ),
          ]
        : []),
      ...(tlsProblem === undefined ? [] : [problem('reference', `tls of ${where} ${tlsProblem}`)]),
      ...metadata
        .filter((name) => !NAME.test(name))
        .map((name) =>
          problem(
            'reference',
            `metadata of ${where} contains "${name}"`,
            'write the name of a text header in lower case',
          ),
        ),
      ...(Number.isSafeInteger(batchSize) && batchSize >= 1 && batchSize <= MAX_BATCH
        ? []
        : [problem('reference', `batchSize of ${where} is ${batchSize} but must be 1 to ${MAX_BATCH}`)]),
    ],
    channel() {
      if (address === undefined || credentials === undefined) throw new TypeError(`${where} has no address`)
      return (channel ??= createChannel(address, credentials, DIRECT))
    },
    close() {
      channel?.close()
      channel = undefined
    },
  }
}

function credentialsOf(tls: boolean | ExternalTls): [ChannelCredentials | undefined, problem?: string] {
  if (tls === false) return [ChannelCredentials.createInsecure()]
  const { ca, certificateChain, privateKey } = tls === true ? ({} as ExternalTls) : tls
  const bytes = (pem: Pem | undefined) => (pem === undefined ? null : Buffer.from(pem))
  try {
    return [ChannelCredentials.createSsl(bytes(ca), bytes(privateKey), bytes(certificateChain))]
  } catch {
    return [undefined, 'is not PEM, or has a certificate without its key']
  }
}
