import { problem, type Problem } from '../../errors.js'
import { ServerCredentials } from '@grpc/grpc-js'
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { SecureContextOptions } from 'node:tls'
import type { HttpServerOptions } from '../../gateway/http/http-server.js'

/**
 * PEM as a string or bytes, or a file that contains it. A file is read when the server is built and again
 * when it changes.
 */
export type Pem = string | Buffer | PemFile

/** A PEM file. */
export interface PemFile {
  readonly file: string
}

/** A listener's certificate and its requirement for client certificates. TLS 1.2 and 1.3 are supported. */
export interface TlsConfig {
  /** The server's certificate, followed by intermediate certificates, without the root. */
  readonly certificateChain: Pem
  /** The unencrypted private key of the first certificate. */
  readonly privateKey: Pem
  /**
   * Certificates of the authorities that sign client certificates. Required if `requireClientCertificate` is
   * true.
   */
  readonly clientCa?: Pem
  /**
   * Rejects clients in the handshake unless they present a certificate signed by `clientCa`. Default: false.
   */
  readonly requireClientCertificate?: boolean
}

/** A TLS configuration with the current content of its files. */
export interface TlsNow extends TlsConfig {
  readonly certificateChain: string | Buffer
  readonly privateKey: string | Buffer
  readonly clientCa?: string | Buffer
}

/**
 * Reads the files of a TLS configuration.
 * @throws Error if a file cannot be read.
 */
export const readTls = ({ certificateChain, privateKey, clientCa, ...rest }: TlsConfig): TlsNow => ({
  ...rest,
  certificateChain: readPem(certificateChain),
  privateKey: readPem(privateKey),
  ...(clientCa === undefined ? {} : { clientCa: readPem(clientCa) }),
})

/** Returns the paths of the files, without duplicates. */
export const tlsFiles = ({ certificateChain, privateKey, clientCa }: TlsConfig): readonly string[] => [
  ...new Set([certificateChain, privateKey, clientCa].flatMap((pem) => (isFile(pem) ? [pem.file] : []))),
]

/** Returns the mistakes in a TLS configuration. The messages never contain any part of the key. */
export const tlsProblems = (field: string, tls: TlsConfig): Problem[] => {
  const unreadable = tlsFiles(tls).flatMap((file) => {
    const [, code] = attempt(() => readFileSync(file))
    return code === undefined
      ? []
      : [problem('option', `${field}: the file ${file} cannot be read (${code})`)]
  })
  if (unreadable.length > 0) return unreadable
  const { certificateChain, privateKey, clientCa, requireClientCertificate = false } = readTls(tls)
  const [certificate, certificateProblem] = attempt(() => certificatesIn(certificateChain)[0])
  const [key, keyProblem] = attempt(() => createPrivateKey(privateKey))
  const [, caProblem] = clientCa === undefined ? [] : attempt(() => certificatesIn(clientCa))
  return [
    ...(certificateProblem
      ? [problem('option', `${field}.certificateChain is not PEM with a certificate`)]
      : []),
    ...(keyProblem
      ? [problem('option', `${field}.privateKey is not an unencrypted private key in PEM format`)]
      : []),
    ...(caProblem ? [problem('option', `${field}.clientCa is not PEM with certificates`)] : []),
    ...(certificate !== undefined && key !== undefined && !certificate.checkPrivateKey(key as KeyObject)
      ? [
          problem(
            'option',
            `${field}.privateKey does not belong to the first certificate of ${field}.certificateChain`,
          ),
        ]
      : []),
    ...(requireClientCertificate && clientCa === undefined
      ? [
          problem(
            'option',
            `${field}.requireClientCertificate needs ${field}.clientCa`,
            `the CA of the clients' certificates`,
          ),
        ]
      : []),
  ]
}

/** TLS credentials of the gRPC listener. Connections opened after `renew` use the new certificate. */
export class GrpcTls extends ServerCredentials {
  /** @param handshakeTimeout - milliseconds. */
  constructor(tls: TlsNow, handshakeTimeout: number) {
    const ssl = sslOf(tls)
    const timeout = Number.isFinite(handshakeTimeout) ? { handshakeTimeout } : {}
    super({ ...ssl._getConstructorOptions(), ...timeout }, ssl._getSecureContextOptions() ?? {})
  }

  renew(tls: TlsNow): void {
    this.updateSecureContextOptions(sslOf(tls)._getSecureContextOptions())
  }

  override _equals(other: ServerCredentials): boolean {
    return other === this
  }
}

const sslOf = (tls: TlsNow): ServerCredentials => {
  const pair = { cert_chain: Buffer.from(tls.certificateChain), private_key: Buffer.from(tls.privateKey) }
  const ca = tls.clientCa === undefined ? null : Buffer.from(tls.clientCa)
  return ServerCredentials.createSsl(ca, [pair], tls.requireClientCertificate ?? false)
}

/** Returns TLS options for the HTTP listener. */
export const httpsOptions = (tls: TlsNow): NonNullable<HttpServerOptions['tls']> => ({
  ...secureContext(tls),
  requestCert: tls.requireClientCertificate ?? false,
  rejectUnauthorized: tls.requireClientCertificate ?? false,
})

/** Returns the TLS options that change when a certificate is renewed. */
export const secureContext = (tls: TlsNow): SecureContextOptions => ({
  cert: tls.certificateChain,
  key: tls.privateKey,
  ...(tls.clientCa === undefined ? {} : { ca: tls.clientCa }),
})

const isFile = (pem: Pem | undefined): pem is PemFile =>
  typeof pem === 'object' && !Buffer.isBuffer(pem) && 'file' in pem

const readPem = (pem: Pem): string | Buffer => (isFile(pem) ? readFileSync(pem.file) : pem)

/**
 * Parses the certificates in a PEM string.
 * @throws Error if there is none, or if one is malformed.
 */
const certificatesIn = (pem: string | Buffer): X509Certificate[] => {
  const blocks = String(pem).match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)
  return (blocks ?? ['']).map((block) => new X509Certificate(block))
}

/** Returns the value, or the code of the error. */
const attempt = <T>(read: () => T): [value: T | undefined, code: string | undefined] => {
  try {
    return [read(), undefined]
  } catch (error) {
    return [undefined, (error as NodeJS.ErrnoException).code ?? 'malformed']
  }
}
