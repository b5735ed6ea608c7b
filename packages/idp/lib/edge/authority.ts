// The certificate library requires it.
import 'reflect-metadata'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  AuthorityKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { createPrivateKey, randomBytes, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { createSecureContext, type SecureContext } from 'node:tls'
import { privateFolder, readPrivate, writePrivate } from '../state/private-file.js'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const DAY_MS = 24 * 60 * 60 * 1000
const AUTHORITY_DAYS = 825
const CERTIFICATE_DAYS = 30
const MAX_CERTIFICATES = 500

/**
 * A certificate authority of this machine, which signs the certificates for the hosts of the local HTTPS
 * proxy.
 */
export interface Authority {
  /** The path of its certificate. */
  readonly path: string
  readonly pem: string
  /** Returns a certificate for the host, which is created on first use. */
  readonly certificateFor: (host: string) => Promise<HostCertificate>
}

/** A certificate and its key in PEM. */
export interface HostCertificate {
  readonly key: string
  readonly cert: string
  readonly context: SecureContext
}

/** Returns the paths of the certificate and its key. */
export const authorityFiles = (home: string) => ({
  folder: join(home, 'ashlar-edge'),
  certificate: join(home, 'ashlar-edge', 'ca.pem'),
  key: join(home, 'ashlar-edge', 'ca-key.pem'),
})

/**
 * Reads the authority from the folder, or creates it. An authority that expires within a month is replaced.
 */
export async function openAuthority(home: string, now: () => number = Date.now): Promise<Authority> {
  const files = authorityFiles(home)
  privateFolder(files.folder)
  const { certificate, key } = (await stored(files, now())) ?? (await makeAuthority(files, now()))
  const made = new Map<string, { readonly certificate: Promise<HostCertificate>; readonly until: number }>()
  return {
    path: files.certificate,
    pem: certificate.toString('pem'),
    certificateFor: (host) => {
      const known = made.get(host)
      if (known !== undefined && known.until > now()) return known.certificate
      const [oldest] = made.keys()
      if (made.size >= MAX_CERTIFICATES && oldest !== undefined) made.delete(oldest)
      const ofHost = signed(host, certificate, key, now())
      made.set(host, { certificate: ofHost, until: now() + (CERTIFICATE_DAYS - 1) * DAY_MS })
      return ofHost
    },
  }
}

interface Signer {
  readonly certificate: X509Certificate
  readonly key: webcrypto.CryptoKey
}

async function stored(files: ReturnType<typeof authorityFiles>, now: number): Promise<Signer | undefined> {
  const [pem, keyPem] = [readPrivate(files.certificate), readPrivate(files.key)]
  if (pem === undefined || keyPem === undefined) return undefined
  try {
    const certificate = new X509Certificate(pem)
    if (certificate.notAfter.getTime() < now + CERTIFICATE_DAYS * DAY_MS) return undefined
    const der = createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'der' })
    return { certificate, key: await webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, true, ['sign']) }
  } catch {
    return undefined
  }
}

async function makeAuthority(files: ReturnType<typeof authorityFiles>, now: number): Promise<Signer> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: `CN=Ashlar development edge of ${userInfo().username.replaceAll(/[^\w.-]/g, '')}`,
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now + AUTHORITY_DAYS * DAY_MS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  writePrivate(files.key, await pemOf(keys.privateKey))
  writePrivate(files.certificate, `${certificate.toString('pem')}\n`)
  return { certificate, key: keys.privateKey }
}

async function signed(
  host: string,
  authority: X509Certificate,
  authorityKey: webcrypto.CryptoKey,
  now: number,
): Promise<HostCertificate> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: 'CN=Ashlar development edge',
    issuer: authority.subject,
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now + CERTIFICATE_DAYS * DAY_MS),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: authorityKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([{ type: isIP(host) === 0 ? 'dns' : 'ip', value: host }]),
      await AuthorityKeyIdentifierExtension.create(authority.publicKey),
    ],
  })
  const key = await pemOf(keys.privateKey)
  const cert = certificate.toString('pem')
  return { key, cert, context: createSecureContext({ key, cert }) }
}

async function pemOf(privateKey: webcrypto.CryptoKey): Promise<string> {
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey))
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' })
    .export({ type: 'pkcs8', format: 'pem' })
    .toString()
}

/** Returns a random serial number, which must be positive (RFC 5280). */
const serialNumber = (): string => `01${randomBytes(15).toString('hex')}`
