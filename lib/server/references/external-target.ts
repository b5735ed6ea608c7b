import { problem, type Problem } from '../../errors.js'
import type { DescService } from '@bufbuild/protobuf'
import { type Channel, ChannelCredentials } from '@grpc/grpc-js'
import { createChannel } from 'nice-grpc'
/** PEM text. */
type Pem = string | Buffer

/** The address and credentials of another process that serves a resource type. */
export interface ExternalTargetOptions {
  /**
   * The service that has the BatchGet of the type. Default: the one in the .proto of the resource.
   */
  readonly service?: DescService
  /**
   * The encryption of the connection: `true` trusts the system's certificate authorities; `false` sends
   * credentials unencrypted. Default: `true`, except for a loopback address.
   */
  readonly tls?: boolean | ExternalTls
  /** Names of metadata that are sent along besides `authorization`, such as `x-api-key`. */
  readonly metadata?: readonly string[]
  /** The most keys of one BatchGet. Default: 1000. */
  readonly batchSize?: number
  /**
   * Services of the target whose HTTP routes the gateway of this server serves as well: it hands their calls
   * on. The target authenticates, authorizes and limits them; the chain of this server does not run. Default:
   * none.
   */
  readonly proxy?: readonly DescService[]
}

/** TLS options for another process. */
export interface ExternalTls {
  /** The certificate authorities that are trusted instead of the system's. */
  readonly ca?: Pem
  /** The certificate of this server, with its intermediate ones, where the target asks for one. */
  readonly certificateChain?: Pem
  readonly privateKey?: Pem
}

/** A type of resource that another process serves. */
export interface ExternalTarget {
  readonly type: string
  /** Undefined where it is not known yet. */
  readonly address: string | undefined
  readonly service: DescService | undefined
  readonly metadata: readonly string[]
  readonly batchSize: number
  readonly proxy: readonly DescService[]
  readonly problems: readonly Problem[]
  /** Connected when it is first used, to the recorded address and no other. */
  channel(): Channel
  close(): void
}

const MAX_BATCH = 1000
const ADDRESS = /^(\[[0-9a-fA-F:.]+\]|[^\s:/]+):\d{1,5}$/
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]):\d+$/
const NAME = /^(?!grpc-|:)[a-z0-9_.-]+(?<!-bin)$/

/** Nothing between the two servers may learn the credentials, or say that they belong elsewhere. */
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
