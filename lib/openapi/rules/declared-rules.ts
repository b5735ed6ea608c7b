/** The rules of `buf.validate` that one field declares, without the package that evaluates them. */
export interface DeclaredRules {
  readonly required: boolean
  /** When they are not evaluated. */
  readonly ignore: 'never' | 'if zero' | 'always'
  /** Of a rule of a type: `string`, `int32`, `repeated` and so on. */
  readonly kind: string | undefined
  /** The rules of the type by name, such as `min_len` → 3n. */
  readonly set: ReadonlyMap<string, unknown>
  /** Expressions, in words. */
  readonly expressions: readonly string[]
  /** Of a list: the rules of its items. */
  readonly items?: DeclaredRules
  /** Of a map. */
  readonly keys?: DeclaredRules
  readonly values?: DeclaredRules
}
