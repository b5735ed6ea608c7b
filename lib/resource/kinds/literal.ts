/** A token of a filter, as far as a kind looks at it. A string's text has no quotes. */
export interface Literal {
  readonly kind: string
  readonly text: string
}

/** Why a token is not a value of a column. */
export class Misfit {
  /**
   * @param text - both the field and what was found are quoted.
   * @param among - texts of which one may have been meant.
   */
  constructor(
    readonly text: (field: string, found: string) => string,
    readonly among: Iterable<string> = [],
  ) {}

  /** @param what - such as "text in double quotes". */
  static takes(what: string): Misfit {
    return new Misfit((field, found) => `${field} takes ${what}, not ${found}`)
  }
}

/** An integer without leading zeros. */
export const INTEGER = /^-?(?:0|[1-9]\d*)$/
/** Sign, whole part, fraction and exponent. */
export const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
