import { byCodePoint } from '../../text/code-point-order.js'
import type { Kind } from './kind.js'
import { Misfit } from './literal.js'
import { isStoredText, noNumber, string } from './text.js'

/**
 * Matches the canonical form. Databases treat two formats of one value as equal; filters in memory would not.
 */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const EXAMPLE = '0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f'

/** A string of the message, in a UUID column. */
export const uuid: Kind = {
  name: 'uuid',
  declared: {
    scalars: [],
    refines: [string.name],
    columnTypes: ['uuid', 'binary'],
    holds: 'UUID',
    family: 'text',
    classes: [],
    property: () => 'string',
    fits: (type) => type === String,
    takesLength: (type) => type === 'binary',
  },
  problem: (value, { otherFormats }) =>
    isUuid(value) || (otherFormats === 'written' && isText(value))
      ? undefined
      : `must be a UUID in lower case with hyphens, such as ${(typeof value === 'string' ? canonical(value) : undefined) ?? EXAMPLE}`,
  zero: () => '',
  filler: () => undefined,
  key: {
    parse: (text, { otherFormats }) =>
      isUuid(text) || (otherFormats !== undefined && isText(text)) ? text : undefined,
    meant: canonical,
    takesUuid: () => true,
    // Canonical UUIDs have their digits at the same positions.
    compare: byCodePoint,
  },
  increments: noNumber('uuid'),
  managed: {
    // Not every database has a UUID type.
    type: () => String,
    from: (read) => (read instanceof Uint8Array ? ofBytes(read) : read),
  },
  isNested: false,
  isStoredAsText: false,
  isSmall: true,
  literal: ({ kind, text }, { otherFormats }) =>
    kind === 'string' && (isUuid(text) || otherFormats !== undefined) ? text : misspelt(canonical(text)),
  isText: false,
  hasOrder: true,
  isSortable: true,
  hasKeys: false,
  exceeds: () => false,
  isInCursor: isStoredText,
  isForeign: (value) => !isUuid(value),
}

/** Returns true for a UUID in lower case with hyphens. */
export const isUuid = (value: unknown): boolean => typeof value === 'string' && UUID.test(value)

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '' && isStoredText(value)

/**
 * Returns the formats in which applications write a UUID as a string: with and without hyphens and braces, in
 * lower and upper case. The canonical form is not included.
 */
export function otherFormatsOf(uuid: string): readonly string[] {
  const plain = [uuid, uuid.replaceAll('-', '')]
  const all = plain.flatMap((text) => [text, text.toUpperCase()]).flatMap((text) => [text, `{${text}}`])
  return all.filter((text) => text !== uuid)
}

/**
 * Matches UUIDs with capital letters, braces, `urn:uuid:` or without hyphens, all of which databases accept.
 */
const SPELLED = /^\s*(?:urn:uuid:)?(?:\{([0-9a-f-]{32,36})\}|([0-9a-f-]{32,36}))\s*$/i

function canonical(text: string): string | undefined {
  const [, braced, bare = braced] = text.length > 64 ? [] : (SPELLED.exec(text) ?? [])
  const hex = bare?.replaceAll('-', '').toLowerCase()
  const parts = hex?.length === 32 ? /^(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(hex)?.slice(1) : undefined
  return parts?.join('-')
}

/** Returns the error that states the canonical form, for a column that stores only canonical UUIDs. */
export const misspelt = (meant: string | undefined): Misfit =>
  Misfit.takes(`a UUID in lower case in double quotes${meant === undefined ? '' : `, "${meant}"`}`)

/** Returns the canonical form of a UUID's 16 bytes. */
export const ofBytes = (bytes: Uint8Array): string =>
  canonical(Buffer.from(bytes).toString('hex').padEnd(32, '0')) ?? ''
