/**
 * The `buf.validate` rules that a field declares, in a form that does not need the package that evaluates
 * them.
 */
export interface DeclaredRules {
  readonly required: boolean
  /** The condition under which the rules are not evaluated. */
  readonly ignore: 'never' | 'if zero' | 'always'
  /** The type of the rules: `string`, `int32`, `repeated` and so on. */
  readonly kind: string | undefined
  /** The rules of the type by name, for example `min_len` with the value 3n. */
  readonly set: ReadonlyMap<string, unknown>
  /** Descriptions of CEL expressions. */
  readonly expressions: readonly string[]
  /** For a list: the rules of its items. */
  readonly items?: DeclaredRules
  /** For a map: the rules of its keys and values. */
  readonly keys?: DeclaredRules
  readonly values?: DeclaredRules
}
