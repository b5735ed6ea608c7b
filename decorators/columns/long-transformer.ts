import type { DescMessage } from '@bufbuild/protobuf'
import type { ColumnOptions, ValueTransformer } from 'typeorm'

/** For TypeORM's own manager: 64-bit integers as what the property is declared, which drivers return as text or rounded. */
export const BIGINT: ValueTransformer = {
  to: (value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
  from: (stored: unknown) =>
    typeof stored === 'string' || typeof stored === 'number' ? BigInt(stored) : stored,
}

/** The same for integers of up to 53 bits in a 64-bit column. */
export const INTEGER: ValueTransformer = {
  to: (value: unknown) => value,
  from: (stored: unknown) => (typeof stored === 'string' ? Number(stored) : stored),
}

/** Whether the column holds 64-bit integers whose transformer is one of these. */
export const isLong = (transformer: unknown): boolean => transformer === BIGINT || transformer === INTEGER

/** What makes the column right in TypeORM's own manager; undefined where it needs nothing. */
export function longTransformer(
  prototype: object,
  property: string,
  { type }: ColumnOptions,
  message: DescMessage | undefined,
): ValueTransformer | undefined {
  const declared: unknown = Reflect.getMetadata('design:type', prototype, property)
  if (declared === BigInt) return BIGINT
  if (type !== 'bigint' && type !== 'int8') return undefined
  if (declared === Number) return INTEGER
  return declared === Object && isLongField(message, property) ? BIGINT : undefined
}

/** INT64, UINT64, FIXED64, SFIXED64 and SINT64 of descriptor.proto. */
const LONG = new Set<number>([3, 4, 6, 16, 18])

function isLongField(message: DescMessage | undefined, property: string): boolean {
  const field = message?.fields.find(({ localName }) => localName === property)
  if (field?.fieldKind === 'scalar') return LONG.has(field.scalar)
  return field?.fieldKind === 'message' && field.message.typeName === 'google.protobuf.Duration'
}
