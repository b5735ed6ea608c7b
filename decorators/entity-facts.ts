import 'reflect-metadata'
import { DeclarationError, inEntity, type Problem, problem, propertyProblem } from '../lib/errors.js'
import type { ChangeKind } from './emits.js'
import type { ResourceOptions } from './resource.js'
import type { SearchableOptions } from './searchable.js'

/** The declarations of decorators about one property, in addition to its column. */
export type PropertyRole =
  | ('tags' | 'etag' | 'tenant' | 'outputOnly' | 'computed')
  | ('createTime' | 'updateTime' | 'deleteTime' | 'version' | 'secret' | 'credential')

export interface PropertyFacts {
  readonly role?: PropertyRole
  /** True if filters and sort orders may name it although it is output-only. */
  readonly filterable?: boolean
  /** True if the table sets it. */
  readonly generated?: boolean
  /** The column's type, if TypeORM has a different one. */
  readonly type?: unknown
  /** True if a resource with snake_case naming has changed TypeORM's metadata of the column. */
  readonly isManaged?: true
  /** Returns the value of an entity without one. */
  readonly default?: () => unknown
  /** True for a generated UUID, which the repository generates. */
  readonly mintsUuid?: true
  /** True for a number that the database generates. */
  readonly mintsNumber?: true
  /** Computes the value from the entity. */
  readonly compute?: (entity: object) => unknown
  /** True if the property is a search source. */
  readonly searchable?: boolean
  /** The old name of its column. */
  readonly renamedFrom?: string
  /** The labels that its column stores for values of the message's enum, by the values' names. */
  readonly enumLabels?: Readonly<Record<string, string>>
  /** The message's field, if it has a different name than the property. */
  readonly protoField?: string
  /** True if Ashlar does not manage it. */
  readonly isInternal?: true
}

/** The changes of a resource that become events, and their content. */
export interface EmittedChanges {
  readonly on: ReadonlySet<ChangeKind>
  readonly include: 'before' | 'changed' | undefined
  readonly source: string | undefined
  /** The paths of fields with free-form JSON. */
  readonly freeForm: readonly string[]
}

/** The arguments of a decorator. */
export interface DecoratorCall {
  readonly decorator: string
  /** The decorated property. Undefined for a class. */
  readonly property: string | undefined
  readonly given: readonly unknown[]
}

/** The declarations of one class's decorators. */
export interface EntityFacts {
  resource?: ResourceOptions
  tenantScoped?: boolean
  /** The property of the tenant, if `@TenantScoped()` names it. */
  tenantColumn?: string
  softDeletable?: boolean
  /** The time in milliseconds from create to `expire_time`. Undefined if only server code sets it. */
  expirable?: { readonly ttlMs: number | undefined }
  searchable?: SearchableOptions
  emits?: EmittedChanges
  readonly properties: Map<string, PropertyFacts>
  readonly calls: DecoratorCall[]
}

const store = new WeakMap<object, EntityFacts>()

/** The classes that any copy of this package in the process has decorated, with the files of these copies. */
const ofAllCopies: WeakMap<object, Set<string>> = ((globalThis as Record<symbol, unknown>)[
  Symbol.for('ashlar.decorated')
] ??= new WeakMap()) as WeakMap<object, Set<string>>

const noFacts = (): EntityFacts => ({ properties: new Map(), calls: [] })

/** Returns the facts of exactly this class, which are created if necessary. */
export function factsOf(entity: object): EntityFacts {
  let facts = store.get(entity)
  if (facts === undefined) {
    store.set(entity, (facts = noFacts()))
    ofAllCopies.set(entity, (ofAllCopies.get(entity) ?? new Set()).add(import.meta.url))
  }
  return facts
}

/** Returns a class and its base classes, nearest first. */
export function lineage(entity: object): object[] {
  const classes: object[] = []
  for (
    let at: object | null = entity;
    typeof at === 'function' && at !== Function.prototype;
    at = Object.getPrototypeOf(at) as object | null
  )
    classes.push(at)
  return classes
}

/** Returns the combined facts of a class and its base classes. Facts of the nearest class take precedence. */
export function inheritedFacts(entity: object): EntityFacts {
  const all = noFacts()
  for (const ancestor of lineage(entity).reverse()) {
    const { properties, calls, ...own } = store.get(ancestor) ?? noFacts()
    Object.assign(all, own)
    all.calls.push(...calls)
    for (const [name, facts] of properties) all.properties.set(name, facts)
  }
  return all
}

/**
 * Records a fact about a class. `@Resource` reads all facts, so it must be the topmost of Ashlar's
 * decorators.
 */
export function declare(
  entity: object,
  decorator: string,
  facts: Partial<Omit<EntityFacts, 'properties' | 'calls'>>,
): void {
  const own = factsOf(entity)
  if (own.resource !== undefined)
    throw refused(
      entity as { name: string },
      problem('decorator', `write @Resource above @${decorator}, because it reads the decorators below it`),
    )
  Object.assign(own, facts)
}

/**
 * Returns the files of two copies of this package, if a decorator of a class or base class comes from a
 * different copy, whose declarations this copy does not know.
 */
export function otherCopyOf(entity: object): { readonly its: string; readonly ours: string } | undefined {
  const ours = import.meta.url
  const copies = lineage(entity).flatMap((one) => [...(ofAllCopies.get(one) ?? [])])
  const its = copies.find((copy) => copy !== ours)
  return its === undefined ? undefined : { its, ours }
}

/** Records the arguments of a decorator. */
export function declareCall(entity: object, call: DecoratorCall): void {
  factsOf(entity).calls.push(call)
}

const refused = (entity: { readonly name: string }, found: Problem): DeclarationError =>
  new DeclarationError(entity.name, inEntity(entity, [found]))

/** Records the role of a property, which has only one. */
export function declareProperty(prototype: object, property: string | symbol, facts: PropertyFacts): void {
  const entity = prototype.constructor
  const { properties } = factsOf(entity)
  const before = properties.get(String(property))
  if (before?.role !== undefined && facts.role !== undefined && before.role !== facts.role)
    throw refused(
      entity,
      propertyProblem(
        'decorator',
        String(property),
        `${String(property)} is declared as ${before.role} and as ${facts.role}`,
        'keep one',
      ),
    )
  properties.set(String(property), { ...before, ...facts })
}

/** Records that a property is a search source, regardless of its role. */
export function declareSearchable(prototype: object, property: string | symbol): void {
  const { properties } = factsOf(prototype.constructor)
  properties.set(String(property), { ...properties.get(String(property)), searchable: true })
}
