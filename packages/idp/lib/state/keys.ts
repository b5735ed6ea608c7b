import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose'
import { randomBytes } from 'node:crypto'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { readPrivate, writePrivate } from './private-file.js'

/** A signing key of the provider. Times are in seconds since the epoch. */
interface SigningKey {
  readonly jwk: JWK
  /** The time from which verifiers could read the key. */
  readonly publishedAt: number
  /** The time from which it signs. Undefined for the next key. */
  readonly signsFrom?: number
  /** The time from which it no longer signs. */
  readonly retiredAt?: number
}

interface KeysFile {
  readonly cookieKeys: readonly string[]
  readonly keys: readonly SigningKey[]
}

const HOUR = 60 * 60
/** The age at which a key is replaced by the next one. */
const ROTATE_AFTER = 7 * 24 * HOUR
/**
 * The time for which a key is published before it signs. Verifiers cache a set of keys for at most ten
 * minutes.
 */
export const PUBLISHED_BEFORE = 10 * 60
/**
 * The time for which a retired key is retained. A logout may contain an ID token that is as old as a session
 * can be.
 */
const KEPT_AFTER = 14 * 24 * HOUR

/**
 * The signing keys. One signs, the next one is already published, and earlier ones are retained while tokens
 * are valid.
 */
export class Keys {
  #file: KeysFile

  private constructor(
    private readonly path: string,
    file: KeysFile,
    private readonly now: () => number,
  ) {
    this.#file = file
  }

  /** Reads the keys from the folder, or creates them. */
  static async open(folder: string, now: () => number, warn: (text: string) => void): Promise<Keys> {
    const path = join(folder, 'keys.json')
    const file = stored(path, warn)
    if (file !== undefined) {
      const known = new Keys(path, file, now)
      known.#comeBack()
      return known
    }
    const [current, next] = await Promise.all([newKey(now()), newKey(now())])
    const keys = new Keys(
      path,
      { cookieKeys: [secret()], keys: [{ ...current, signsFrom: now() }, next] },
      now,
    )
    keys.#write()
    return keys
  }

  /** The private keys. The first one signs. */
  get jwks(): { keys: JWK[] } {
    const order = [...this.#file.keys].sort((a, b) => rankOf(a) - rankOf(b))
    return { keys: order.map(({ jwk }) => jwk) }
  }

  get cookieKeys(): string[] {
    return [...this.#file.cookieKeys]
  }

  /** Rotates the keys if the signing key is old. Resolves to true if the keys changed. */
  async keepFresh(): Promise<boolean> {
    this.#comeBack()
    const current = this.#file.keys.find(isSigning)
    const isOld = current === undefined || this.now() - (current.signsFrom ?? 0) >= ROTATE_AFTER
    if (isOld && this.secondsUntilRotation() === 0) {
      await this.rotate()
      return true
    }
    return this.#forget()
  }

  /** Returns the time in seconds until the next key has been published long enough to sign. */
  secondsUntilRotation(): number {
    const next = this.#file.keys.find(isNext)
    return next === undefined ? 0 : Math.max(0, next.publishedAt + PUBLISHED_BEFORE - this.now())
  }

  /**
   * Makes the next key sign, and publishes another one.
   *
   * @throws RangeError if verifiers may not have the next key yet.
   */
  async rotate(): Promise<void> {
    if (this.secondsUntilRotation() > 0) throw new RangeError('the next key is too new')
    const following = await newKey(this.now())
    const keys = this.#file.keys.map((key) => {
      if (isSigning(key)) return { ...key, retiredAt: this.now() }
      return isNext(key) ? { ...key, signsFrom: this.now() } : key
    })
    this.#file = { ...this.#file, keys: [...keys, following] }
    this.#forget()
    this.#write()
  }

  /**
   * Corrects times in the future, which a wrong clock has left. Otherwise there would be no rotation until
   * then.
   */
  #comeBack(): void {
    const now = this.now()
    const isAhead = (value: unknown): boolean => typeof value === 'number' && value > now
    if (!this.#file.keys.some((key) => Object.values(key).some(isAhead))) return
    const backIn = (key: SigningKey): SigningKey =>
      Object.fromEntries(
        Object.entries(key).map(([name, value]) => [name, isAhead(value) ? now : (value as unknown)]),
      ) as unknown as SigningKey
    this.#file = { ...this.#file, keys: this.#file.keys.map(backIn) }
    this.#write()
  }

  #forget(): boolean {
    const keys = this.#file.keys.filter(
      ({ retiredAt }) => retiredAt === undefined || retiredAt + KEPT_AFTER > this.now(),
    )
    if (keys.length === this.#file.keys.length) return false
    this.#file = { ...this.#file, keys }
    this.#write()
    return true
  }

  #write(): void {
    writePrivate(this.path, `${JSON.stringify(this.#file)}\n`)
  }
}

function stored(path: string, warn: (text: string) => void): KeysFile | undefined {
  const text = readPrivate(path)
  if (text === undefined) return undefined
  try {
    const file = JSON.parse(text) as Partial<KeysFile>
    if (file.keys?.some(isSigning) && (file.cookieKeys?.length ?? 0) > 0) return file as KeysFile
  } catch {
    // The damaged file is renamed below.
  }
  renameSync(path, `${path}.damaged`)
  warn(`${path} could not be read and is now ${path}.damaged. Tokens signed before are no longer valid.`)
  return undefined
}

const isSigning = ({ signsFrom, retiredAt }: SigningKey): boolean =>
  signsFrom !== undefined && retiredAt === undefined
const isNext = ({ signsFrom }: SigningKey): boolean => signsFrom === undefined

const rankOf = (key: SigningKey): number => (isSigning(key) ? 0 : isNext(key) ? 1 : 2)

async function newKey(now: number): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true, modulusLength: 2048 })
  const jwk = await exportJWK(privateKey)
  return {
    jwk: { ...jwk, kid: await calculateJwkThumbprint(jwk), use: 'sig', alg: 'RS256' },
    publishedAt: now,
  }
}

const secret = (): string => randomBytes(32).toString('base64url')
