import type { ColumnOptions } from 'typeorm'

/** Returns a type with its length, or its precision and scale. */
export function sizedType(type: string, { length, precision, scale }: ColumnOptions): string {
  const digits = [precision, scale].filter((one) => one !== undefined && one !== null)
  const size = length !== undefined && length !== '' ? [length] : digits
  const [, name = type, zone = ''] = /^(.*?)( with(?:out)? time zone)?$/.exec(type) ?? []
  return `${name}${size.length === 0 ? '' : `(${size.join(', ')})`}${zone}`
}
