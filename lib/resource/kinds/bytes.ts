import { ScalarType } from '@bufbuild/protobuf'
import type { HeldForm, Kind } from './kind.js'
import { isClass } from './managed.js'
import { Misfit } from './literal.js'
import { noNumber } from './text.js'

export const bytes: Kind = {
  name: 'bytes',
  declared: {
    scalars: [ScalarType.BYTES],
    columnTypes: ['bytea', 'blob', 'mediumblob', 'longblob', 'varbinary'],
    holds: 'Uint8Array',
    family: 'bytes',
    isDeclaredAsText: true,
    isHeldBy: (family) => family === 'text',
    classes: [Uint8Array, Buffer],
    property: () => 'Uint8Array',
    fits: (type) => type === Uint8Array,
    heldAs: new Map<unknown, HeldForm>([
      [
        Buffer,
        {
          what: 'a Buffer',
          fromOwn: (bytes) => bufferOf(bytes as Uint8Array),
          toOwn: (bytes) => (bytes instanceof Uint8Array ? new Uint8Array(bytes) : undefined),
        },
      ],
    ]),
  },
  problem: (value) => (value instanceof Uint8Array ? undefined : 'must be a Uint8Array'),
  zero: () => new Uint8Array(),
  filler: () => undefined,
  increments: noNumber('bytes'),
  managed: {
    type: (declared) => (isClass(declared) ? 'text' : undefined),
    // Not every driver accepts a plain Uint8Array.
    to: (value) => (value instanceof Uint8Array ? Buffer.from(value) : value),
    from: (read) => (read instanceof Uint8Array ? new Uint8Array(read) : read),
  },
  isNested: false,
  isStoredAsText: false,
  isSmall: false,
  literal: ({ kind, text }) =>
    (kind === 'string' ? parseBase64(text) : undefined) ?? Misfit.takes('base64 in double quotes'),
  isText: false,
  hasOrder: true,
  isSortable: true,
  hasKeys: false,
  exceeds: () => true,
  isInCursor: (value) => value instanceof Uint8Array,
  // SQLite stores text in a column of bytes.
  unread: () => ['text or a number', 'the field holds bytes'],
  mayBeUnread: (_, isShared) => isShared,
}

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/**
 * Parses strictly: `Buffer.from` ignores unknown characters, so that two strings would mean the same bytes.
 */
function parseBase64(text: string): Uint8Array | undefined {
  if (!BASE64.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}
