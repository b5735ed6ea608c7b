const NUMBER = /^-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Infinity)$|^NaN$/
const TEXT = /^'(?:[^'\0]|'')*'$/
const BYTES = /^X'(?:[0-9A-F]{2})*'$/

/**
 * An SQL literal for a stored value that is not valid for its field. Page tokens contain the literal, because
 * the database sorts rows by the stored value.
 */
export class StoredLiteral {
  private constructor(readonly text: string) {}

  /** Parses a literal. Returns undefined for any other string. */
  static of(text: string): StoredLiteral | undefined {
    return [NUMBER, TEXT, BYTES].some((form) => form.test(text)) ? new StoredLiteral(text) : undefined
  }

  static ofText(text: string): StoredLiteral {
    return new StoredLiteral(`'${text.replaceAll("'", "''")}'`)
  }

  static ofBytes(bytes: Uint8Array): StoredLiteral {
    return new StoredLiteral(`X'${Buffer.from(bytes).toString('hex').toUpperCase()}'`)
  }

  get isNumber(): boolean {
    return NUMBER.test(this.text)
  }

  /** The string or the bytes of a literal that is not a number. */
  get value(): string | Buffer {
    return this.text.startsWith('X')
      ? Buffer.from(this.text.slice(2, -1), 'hex')
      : this.text.slice(1, -1).replaceAll("''", "'")
  }
}
