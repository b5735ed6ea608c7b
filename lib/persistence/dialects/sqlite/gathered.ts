import type { FieldKind } from '../../../resource/fields/field.js'

/** The most arguments of a function, in every build. */
const MOST = 100

/** JSON holds no bytes, and SQLite writes a number into it with too few digits. The casts are for what other writers have stored. */
const ELEMENTS: Readonly<Partial<Record<FieldKind, 'TEXT' | 'NUMERIC'>>> = {
  string: 'TEXT',
  enum: 'TEXT',
  timestamp: 'TEXT',
  int64: 'TEXT',
  uint64: 'TEXT',
  duration: 'TEXT',
  json: 'TEXT',
  tags: 'TEXT',
  int32: 'NUMERIC',
  uint32: 'NUMERIC',
  bool: 'NUMERIC',
}

/** @param columns - by their names in the database. */
export const sqliteGathered = (
  columns: readonly { readonly kind: FieldKind; readonly column: string }[],
  quote: (name: string) => string,
): string | undefined => {
  const elements: string[] = []
  for (const { kind, column } of columns) {
    const type = ELEMENTS[kind]
    if (type === undefined) return undefined
    elements.push(`CAST(${quote(column)} AS ${type})`)
  }
  return elements.length > MOST ? undefined : `json_group_array(json_array(${elements.join(', ')}))`
}
