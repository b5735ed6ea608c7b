import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Cookies of one origin. Browsers send a host's cookies to all of its ports, so names contain the port. */
export class Cookies {
  /** Sealed cookies last as long as the process, as sessions do. */
  readonly #key = randomBytes(32)
  readonly #prefix: string
  readonly #attributes: string

  constructor(origin: string) {
    const { protocol, port } = new URL(origin)
    const isSecure = protocol === 'https:'
    // No other host of the domain can set a cookie with the prefix __Host-.
    this.#prefix = `${isSecure ? '__Host-' : ''}sign_in_${port || 'default'}_`
    // Lax: the browser sends them when it returns from the provider, and not with forms of other sites.
    this.#attributes = `; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  }

  /** The cookies of the request whose names begin so, from the rest of the name to the value. */
  startingWith(request: Request, start: string): ReadonlyMap<string, string> {
    const whole = this.#prefix + start
    // No other spaces are removed: \xA0__Host-… is a name that another host of the domain can set.
    const pairs = (request.headers.get('cookie') ?? '').split(/; */).map((pair) => pair.split('='))
    const found = pairs.filter(([name = '']) => name.startsWith(whole))
    return new Map(found.map(([name = '', ...value]) => [name.slice(this.#prefix.length), value.join('=')]))
  }

  valueOf(request: Request, name: string): string | undefined {
    return this.startingWith(request, name).get(name)
  }

  set(name: string, value: string, seconds: number): string {
    return `${this.#prefix}${name}=${value}; Max-Age=${seconds}${this.#attributes}`
  }

  remove(name: string): string {
    return this.set(name, '', 0)
  }

  /** The value, encrypted, for the cookie of this name alone. */
  seal(name: string, value: object): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce).setAAD(Buffer.from(name))
    const sealed = [cipher.update(JSON.stringify(value)), cipher.final()]
    return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString('base64url')
  }

  /** The value for which `seal` returned this text; undefined for any other text. */
  unseal(name: string, text: string): unknown {
    const bytes = Buffer.from(text, 'base64url')
    if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined
    const decipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, NONCE_BYTES))
    decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-TAG_BYTES))
    try {
      const plain = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]
      return JSON.parse(Buffer.concat(plain).toString())
    } catch {
      return undefined
    }
  }
}
