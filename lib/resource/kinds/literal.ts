/** The properties of a filter's token that a kind reads. A string's text has no quotes. */
export interface Literal {
  readonly kind: string
  readonly text: string
}

/** The reason why a token is not a valid value of a column. */
export class Misfit {
  /**
   * @param text - both the field and the token are passed in quotes.
   * @param among - strings of which one may have been intended.
   */
  constructor(
    readonly text: (field: string, found: string) => string,
    readonly among: Iterable<string> = [],
  ) {}

  /** @param what - a description of valid values, such as "text in double quotes". */
  static takes(what: string): Misfit {
    return new Misfit((field, found) => `${field} takes ${what}, not ${found}`)
  }
}

/** Matches an integer without leading zeros. */
export const INTEGER = /^-?(?:0|[1-9]\d*)$/
/** Matches a number: sign, whole part, fraction and exponent. */
export const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
