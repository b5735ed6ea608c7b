const NUMBER = /^-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Infinity)$|^NaN$/
const TEXT = /^'(?:[^'\0]|'')*'$/
const BYTES = /^X'(?:[0-9A-F]{2})*'$/

/**
 * A value that a column contains and that its field cannot hold, as an SQL literal. Page tokens contain it,
 * because rows are sorted by what is stored.
 */
export class StoredLiteral {
  private constructor(readonly text: string) {}

  /** Returns undefined for a string that is not a literal. */
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

  /** The value of a literal that is not a number. */
  get value(): string | Buffer {
    return this.text.startsWith('X')
      ? Buffer.from(this.text.slice(2, -1), 'hex')
      : this.text.slice(1, -1).replaceAll("''", "'")
  }
}
