import { frozenTexts, frozenValue, isPlain } from './frozen-value.js'

/** The identity of a caller, from authentication or from the development headers. */
export interface Principal {
  readonly subject: string
  /** The `account_id` of every row that the caller may access; empty for no tenant's rows. */
  readonly tenant: string
  readonly groups: readonly string[]
  readonly scopes: readonly string[]
}

/**
 * Returns the object itself. As a base class it lets a class add private fields to any object. The cast is
 * needed because TypeScript does not accept a function as a class.
 */
const itself = function (object: object): object {
  return object
} as unknown as new (object: object) => object

/** Marks principals that were created here. A WeakSet takes more time per call than the copy. */
class Frozen extends itself {
  readonly #isFrozen = true

  static has(object: object): boolean {
    return #isFrozen in object
  }
}

/**
 * Returns an immutable principal: a deep copy, including plain objects and lists. A missing part, or one of
 * the wrong type, is empty. A value that is not a principal (undefined, a promise) becomes the anonymous one.
 */
export const frozenPrincipal = (value: unknown): Principal => {
  if (typeof value !== 'object' || value === null || 'then' in value) return ANONYMOUS
  if (Frozen.has(value)) return value as Principal
  const { subject, tenant, groups, scopes } = value as Partial<Principal>
  const copy: Principal = {
    subject: typeof subject === 'string' ? subject : '',
    tenant: typeof tenant === 'string' ? tenant : '',
    groups: frozenTexts(groups),
    scopes: frozenTexts(scopes),
  }
  for (const name of Object.keys(value))
    if (!Object.hasOwn(copy, name)) {
      const each = frozenValue((value as Readonly<Record<string, unknown>>)[name])
      Object.defineProperty(copy, name, { value: each, enumerable: true })
    }
  // An object of an application class keeps its methods.
  if (!isPlain(value)) Object.setPrototypeOf(copy, Object.getPrototypeOf(value) as object)
  return Object.freeze(new Frozen(copy) as object as Principal)
}

/** The anonymous principal: every non-public call is denied and no tenant's row can be accessed. */
export const ANONYMOUS: Principal = frozenPrincipal({})
