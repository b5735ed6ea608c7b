import { ServerCredentials } from '@grpc/grpc-js'
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import type { HttpServerOptions } from '../../gateway/http/http-server.js'

/** PEM text. Read it from its file yourself: `readFileSync(path)` fits. */
export type Pem = string | Buffer

/** The certificate of a listener, and whether clients need one. TLS 1.2 and 1.3. */
export interface TlsConfig {
  /** The server's certificate, followed by the intermediate ones, without the root. */
  readonly certificateChain: Pem
  /** The key of the first certificate, not encrypted. */
  readonly privateKey: Pem
  /** Certificates of the authorities that sign client certificates. Required with `requireClientCertificate`. */
  readonly clientCa?: Pem
  /** Refuses clients without a certificate signed by `clientCa` in the handshake. Default: false. */
  readonly requireClientCertificate?: boolean
}

/** The mistakes in it, one text each, without a byte of the key. */
export const tlsProblems = (field: string, tls: TlsConfig): string[] => {
  const { certificateChain, privateKey, clientCa, requireClientCertificate = false } = tls
  const [certificate, certificateProblem] = attempt(() => certificatesIn(certificateChain)[0])
  const [key, keyProblem] = attempt(() => createPrivateKey(privateKey))
  const [, caProblem] = clientCa === undefined ? [] : attempt(() => certificatesIn(clientCa))
  return [
    ...(certificateProblem ? [`${field}.certificateChain is not PEM with a certificate`] : []),
    ...(keyProblem ? [`${field}.privateKey is not PEM with a private key that is not encrypted`] : []),
    ...(caProblem ? [`${field}.clientCa is not PEM with certificates`] : []),
    ...(certificate !== undefined && key !== undefined && !certificate.checkPrivateKey(key as KeyObject)
      ? [`${field}.privateKey does not belong to the first certificate of ${field}.certificateChain`]
      : []),
    ...(requireClientCertificate && clientCa === undefined
      ? [`${field}.requireClientCertificate needs ${field}.clientCa: who signs the clients' certificates`]
      : []),
  ]
}

/** The same for the gRPC listener. */
export const grpcCredentials = (tls: TlsConfig | undefined): ServerCredentials => {
  if (tls === undefined) return ServerCredentials.createInsecure()
  const pair = { cert_chain: Buffer.from(tls.certificateChain), private_key: Buffer.from(tls.privateKey) }
  const ca = tls.clientCa === undefined ? null : Buffer.from(tls.clientCa)
  return ServerCredentials.createSsl(ca, [pair], tls.requireClientCertificate ?? false)
}

/** The same for the HTTP listener. */
export const httpsOptions = (tls: TlsConfig): NonNullable<HttpServerOptions['tls']> => ({
  cert: tls.certificateChain,
  key: tls.privateKey,
  ...(tls.clientCa === undefined ? {} : { ca: tls.clientCa }),
  requestCert: tls.requireClientCertificate ?? false,
  rejectUnauthorized: tls.requireClientCertificate ?? false,
})

/** @throws Error when there is none, or a malformed one. */
const certificatesIn = (pem: Pem): X509Certificate[] => {
  const blocks = String(pem).match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)
  return (blocks ?? ['']).map((block) => new X509Certificate(block))
}

const attempt = <T>(read: () => T): [value: T | undefined, failed: boolean] => {
  try {
    return [read(), false]
  } catch {
    return [undefined, true]
  }
}
