import { type KindsOf, type Messages, writtenBy } from './messages.js'

/** The reason why running code fails after a statement. */
export type Breaks = KindsOf<typeof BREAKS>

/** One sentence for each reason. */
export const BREAKS = {
  /** The message of a lint finding, whether or not the file accepts it. */
  rule: (v: { rule: string; text: string }) => v.text,
  /**
   * `isUnsure`: a column in `withoutDefault` may accept NULL. The columns in `required` no longer accept
   * NULL.
   */
  inserts: (v: {
    withoutDefault: readonly string[]
    isUnsure: boolean
    required: readonly string[]
    hasCheck: boolean
  }) =>
    [
      ...(v.withoutDefault.length === 0
        ? []
        : [
            `code whose INSERT omits ${v.withoutDefault.join(', ')} fails${v.isUnsure ? ', unless the column accepts NULL' : ''}`,
          ]),
      ...(v.required.length === 0
        ? []
        : [
            `code that writes NULL to ${v.required.join(', ')} fails, and so does an INSERT that omits it, unless it has a default`,
          ]),
      ...(v.hasCheck ? ['code that writes rows that violate the check fails'] : []),
    ].join('; '),
  unique: (v: { columns: readonly string[] }) =>
    `code that writes a second row with the same ${v.columns.join(', ')} fails`,
  /** `when` is the trigger's event, such as `BEFORE INSERT`. */
  trigger: (v: { name: string; table: string | undefined; when: string | undefined }) =>
    `code that relies on what the trigger ${v.name}${v.table === undefined ? '' : ` of ${v.table}`} does${v.when === undefined ? '' : ` ${v.when}`}`,
} satisfies Messages

/**
 * Returns the break that a planned statement causes, as a sentence.
 * @internal
 */
export const breaksText = (breaks: Breaks): string => writtenBy(BREAKS, breaks, () => '')
