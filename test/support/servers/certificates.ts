import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** A certificate and its private key in PEM. */
export interface Certified {
  readonly certificate: string
  readonly key: string
}

/** A certificate authority for tests. */
export interface Authority extends Certified {
  /** Issues a certificate for `localhost` and 127.0.0.1. */
  issue(name: string): Certified
}

/**
 * Creates a certificate authority. The certificates are encoded as DER here, because node:crypto cannot
 * create them, and a suite that needs an openssl program would skip its TLS tests if there is none.
 */
export function authority(name: string): Authority {
  const issuer = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const make = (subject: string, publicKey: KeyObject, isCa: boolean) =>
    pem('CERTIFICATE', certificate(name, issuer.privateKey, subject, publicKey, isCa))
  return {
    certificate: make(name, issuer.publicKey, true),
    key: pemOf(issuer.privateKey),
    issue: (subject) => {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      return { certificate: make(subject, own.publicKey, false), key: pemOf(own.privateKey) }
    },
  }
}

const DAY_MS = 86_400_000

/** Returns an X.509 version 3 certificate (RFC 5280 section 4.1). */
function certificate(
  issuer: string,
  issuerKey: KeyObject,
  subject: string,
  publicKey: KeyObject,
  isCa: boolean,
): Buffer {
  const algorithm = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)) // ecdsa-with-SHA256
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    nameOf(issuer),
    sequence(time(Date.now() - DAY_MS), time(Date.now() + DAY_MS)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(isCa ? BASIC_CONSTRAINTS_CA : SUBJECT_ALT_NAME)),
  )
  return sequence(toBeSigned, algorithm, bits(sign('sha256', toBeSigned, issuerKey)))
}

const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts)
const oid = (...bytes: readonly number[]): Buffer => der(0x06, Buffer.from(bytes))
const bits = (bytes: Buffer): Buffer => der(0x03, Buffer.from([0]), bytes)
const time = (ms: number): Buffer =>
  der(
    0x17,
    Buffer.from(
      `${new Date(ms)
        .toISOString()
        .replace(/[-:T]|\.\d+/g, '')
        .slice(2)}`,
    ),
  )
const nameOf = (commonName: string): Buffer =>
  sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(commonName)))))
const extension = (id: number, value: Buffer): Buffer => sequence(oid(0x55, 0x1d, id), der(0x04, value))

const BASIC_CONSTRAINTS_CA = extension(0x13, sequence(der(0x01, Buffer.from([0xff]))))
const SUBJECT_ALT_NAME = extension(
  0x11,
  sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1]))),
)

const pemOf = (key: KeyObject): string => String(key.export({ type: 'pkcs8', format: 'pem' }))

const pem = (label: string, bytes: Buffer): string => {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
