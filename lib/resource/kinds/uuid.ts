import type { Kind } from './kind.js'
import { Misfit } from './literal.js'
import { noNumber, string } from './text.js'

/** Of two spellings of one value, databases would take one for the other, and filters in memory would not. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A string of the message in the column type of UUIDs. */
export const uuid: Kind = {
  name: 'uuid',
  declared: {
    scalars: [],
    refines: string.name,
    columnTypes: ['uuid'],
    holds: 'UUID',
    family: 'text',
    classes: [],
    property: () => 'string',
    fits: (type) => type === String,
  },
  problem: (value) =>
    typeof value === 'string' && UUID.test(value)
      ? undefined
      : 'has to be a UUID in lower case with hyphens, such as 0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f',
  zero: () => '',
  filler: () => undefined,
  increments: noNumber('uuid'),
  // Not every database has a type of them.
  managed: { type: () => String },
  isNested: false,
  isStoredAsText: false,
  isSmall: true,
  literal: ({ kind, text }) =>
    kind === 'string' && UUID.test(text) ? text : Misfit.takes('a UUID in lower case in double quotes'),
  isText: false,
  hasOrder: true,
  isSortable: true,
  hasKeys: false,
  exceeds: () => false,
  isInCursor: (value) => typeof value === 'string' && UUID.test(value),
}
