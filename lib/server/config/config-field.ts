export interface ConfigField<Given, Resolved> {
  /** The default as shown in the documentation's table. */
  readonly documented: string
  /** Returns the value of the field, or its default. */
  readonly resolve: (given: Given) => Resolved
  /** The nested fields, if the value is itself a configuration. */
  readonly fields?: FieldTable
}

/** The fields of any configuration, by name. */
export type FieldTable = Readonly<Record<string, ConfigField<never, unknown>>>

/** Requires an entry for every field of a configuration. */
export type Fields<Given, Resolved extends Record<keyof Given, unknown>> = {
  readonly [F in keyof Required<Given>]: ConfigField<Given, Resolved[F]>
}

/** Returns a configuration with every field set, to the given value or the default. */
export const resolved = <Given, Resolved extends Record<keyof Given, unknown>>(
  fields: Fields<Given, Resolved>,
  given: Given,
): Resolved =>
  Object.fromEntries(
    Object.entries<ConfigField<Given, unknown>>(fields).map(([name, { resolve }]) => [name, resolve(given)]),
  ) as Resolved

/** Formats a number for the documentation: `none` for no limit, whole MiB, or with thousands separators. */
export const documentedNumber = (value: number): string => {
  if (value === Number.POSITIVE_INFINITY) return 'none'
  if (value % MIB === 0) return `${value / MIB} MiB`
  // `toLocaleString` would load the ICU data, which adds megabytes to each server.
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',')
}

export const MIB = 2 ** 20
