import type { FieldKind } from '../../../resource/fields/field.js'
import { gatheredBy } from '../values/gathered.js'
import { quoted } from '../values/quoted.js'

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

const quote = (name: string): string => quoted(name, '`')

export const sqliteGathered = gatheredBy({
  quote,
  element: ({ kind, column }) => {
    const type = ELEMENTS[kind]
    return type && `CAST(${quote(column)} AS ${type})`
  },
  all: (element) => `json_group_array(${element})`,
  array: (elements) => `json_array(${elements.join(', ')})`,
  bytes: (text) => `length(CAST(${text} AS BLOB))`,
})
