import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { InvalidArgument } from '../../errors.js'
import { type JsonValue, cursorValueOf, fromJson, isJsonValue, toJson } from './cursor-value.js'
import type { OrderTerm } from './order-by.js'
import type { PlanValue } from './query-plan.js'

/** Identifies the list to which a page token belongs. Other lists reject the token. */
export interface PageScope {
  /** The resource type. */
  readonly resource: string
  /** Undefined if the list spans all tenants or the resource has none. */
  readonly tenant: string | undefined
  readonly filter: string
  readonly orderBy: string
  readonly search: string
  readonly showDeleted: boolean
}

/** A sort value of a page's last row. Null stands for NULL. */
export type CursorValue = PlanValue | null

/** The start of a page: after the row with these sort values, or after a number of rows. */
export type PageCursor =
  | { readonly kind: 'keyset'; readonly values: readonly CursorValue[] }
  | { readonly kind: 'offset'; readonly offset: number }

/** The maximum length of a page token in characters. */
export const MAX_PAGE_TOKEN_LENGTH = 65_536
export const MAX_OFFSET = 2 ** 31 - 1

/**
 * Returns a token for the page after the row with these sort values, one per term.
 *
 * @param values - the entity's values. Undefined and null stand for NULL.
 * @param key - turns the checksum into an HMAC, so that clients cannot forge tokens.
 */
export const encodeKeyset = (
  values: readonly unknown[],
  terms: readonly OrderTerm[],
  scope: PageScope,
  key?: string | Uint8Array,
): string => {
  const json = terms.map(({ column }, i) => toJson(cursorValueOf(column, values[i])))
  const token = toToken(json, checksum(json, terms, scope, key))
  if (token.length <= MAX_PAGE_TOKEN_LENGTH) return token
  throw new InvalidArgument('order_by', 'the values of this sort order are too long for a page token')
}

/** Returns a token for the page after a number of rows: the decimal number in base64. */
export const encodeOffset = (offset: number): string => Buffer.from(String(offset)).toString('base64')

/**
 * Returns the start of a token's page, or undefined for the empty token, which stands for the first page.
 *
 * @throws InvalidArgument if the token is malformed or belongs to another list.
 */
export const decodePageToken = (
  token: string,
  terms: readonly OrderTerm[],
  scope: PageScope,
  key?: string | Uint8Array,
): PageCursor | undefined => {
  if (token === '') return undefined
  if (token.length > MAX_PAGE_TOKEN_LENGTH || !BASE64.test(token)) return malformed()
  const text = Buffer.from(token, 'base64').toString('utf8')
  if (DECIMAL.test(text)) {
    const offset = Number(text)
    const isCanonical = token === encodeOffset(offset) || token === encodeOffset(offset).replace(/=+$/, '')
    return isCanonical && offset <= MAX_OFFSET ? { kind: 'offset', offset } : malformed()
  }

  const [json, sum] = keysetParts(text)
  if (toToken(json, sum) !== token) return malformed()
  const given = Buffer.from(sum)
  const expected = Buffer.from(checksum(json, terms, scope, key))
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new InvalidArgument(
      'page_token',
      'belongs to another list: filter, order_by and other parameters must stay the same',
    )
  }
  if (json.length !== terms.length) return malformed()
  const values = terms.map(({ column }, i) => fromJson(column, json[i] as JsonValue) ?? malformed())
  return { kind: 'keyset', values: values.map(([value]) => value) }
}

/** Offset tokens may come from other clients, with or without padding. */
const BASE64 = /^[A-Za-z0-9_-]+={0,2}$/
const DECIMAL = /^(?:0|[1-9]\d{0,9})$/
const CHECKSUM_BYTES = 16
const VERSION = 1

export const malformed = (): never => {
  throw new InvalidArgument('page_token', 'is malformed: pass next_page_token of the previous page unchanged')
}

/** Returns the canonical form of a token. A token in a different encoding was tampered with. */
const toToken = (values: readonly JsonValue[], sum: string): string =>
  Buffer.from(JSON.stringify([values, sum])).toString('base64url')

const checksum = (
  values: readonly JsonValue[],
  terms: readonly OrderTerm[],
  scope: PageScope,
  key: string | Uint8Array | undefined,
): string => {
  const { resource, tenant, filter, orderBy, search, showDeleted } = scope
  const order = terms.map(({ column, direction }) => [column.column, column.kind, direction])
  const list = [VERSION, resource, tenant ?? null, filter, orderBy, search, showDeleted, order, values]
  const hash = key === undefined ? createHash('sha256') : createHmac('sha256', key)
  return hash.update(JSON.stringify(list)).digest().subarray(0, CHECKSUM_BYTES).toString('base64url')
}

const keysetParts = (text: string): readonly [json: readonly JsonValue[], sum: string] => {
  const parts = parsed(text)
  if (!Array.isArray(parts) || parts.length !== 2) return malformed()
  const [json, sum] = parts as readonly unknown[]
  return Array.isArray(json) && json.every(isJsonValue) && typeof sum === 'string' ? [json, sum] : malformed()
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return malformed()
  }
}
