import { ScalarType } from '@bufbuild/protobuf'
import type { Kind } from './kind.js'
import { managedAs } from './managed.js'
import { Misfit } from './literal.js'
import { noNumber } from './text.js'

export const bool: Kind = {
  name: 'bool',
  declared: {
    scalars: [ScalarType.BOOL],
    columnTypes: ['boolean', 'bool'],
    holds: 'boolean',
    family: 'booleans',
    // MySQL has no boolean type.
    isHeldBy: (_family, type) => type === 'tinyint',
    classes: [Boolean],
    property: () => 'boolean',
    fits: (type) => type === Boolean,
  },
  problem: (value) => (typeof value === 'boolean' ? undefined : `must be a boolean, not a ${typeof value}`),
  zero: () => false,
  filler: () => false,
  increments: noNumber('bool'),
  managed: { ...managedAs(Boolean), from: Boolean },
  isNested: false,
  isStoredAsText: false,
  isSmall: true,
  inside: { value: (json) => (typeof json === 'boolean' ? json : undefined), zero: () => false },
  literal: ({ kind, text }) =>
    kind === 'word' && (text === 'true' || text === 'false')
      ? text === 'true'
      : Misfit.takes('true or false'),
  isText: false,
  hasOrder: false,
  isSortable: true,
  hasKeys: false,
  exceeds: () => false,
  isInCursor: (value) => typeof value === 'boolean',
  // Engines without a boolean type store numbers.
  mayBeUnread: (_, isShared) => isShared,
}
