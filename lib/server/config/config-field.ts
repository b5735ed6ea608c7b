/** One field of a configuration. */
export interface ConfigField<Given, Resolved> {
  /** The default, as the table in the documentation has it. */
  readonly documented: string
  /** Returns the value of the field, or its default. */
  readonly resolve: (given: Given) => Resolved
  /** The fields of the value, where it is a configuration of its own. */
  readonly fields?: FieldTable
}

/** The fields of any configuration, by name. */
export type FieldTable = Readonly<Record<string, ConfigField<never, unknown>>>

/** Every field of a configuration, once. */
export type Fields<Given, Resolved extends Record<keyof Given, unknown>> = {
  readonly [F in keyof Required<Given>]: ConfigField<Given, Resolved[F]>
}

/** Every field, given or by default. */
export const resolved = <Given, Resolved extends Record<keyof Given, unknown>>(
  fields: Fields<Given, Resolved>,
  given: Given,
): Resolved =>
  Object.fromEntries(
    Object.entries<ConfigField<Given, unknown>>(fields).map(([name, { resolve }]) => [name, resolve(given)]),
  ) as Resolved

/** A number as the documentation writes it: `none` for no limit, whole MiB, or with thousands separators. */
export const documentedNumber = (value: number): string => {
  if (value === Number.POSITIVE_INFINITY) return 'none'
  if (value % MIB === 0) return `${value / MIB} MiB`
  // `toLocaleString` would load the data of ICU, megabytes that each server keeps.
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',')
}

export const MIB = 2 ** 20
