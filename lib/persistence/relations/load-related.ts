import { ResourceExhausted } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Values } from '../contract/new-entity.js'
import { isStorable } from '../query/reachable.js'
import { type LoadTree, spans } from './relation-loads.js'
import type { Search } from './search.js'

/** The most resources that one relation of a page has where each entity may have several. */
export const MAX_LOADED = 10_000

/** Where the resources of relations are read. */
export interface RelatedSource {
  /** What the call reaches of each search, in one statement for each. They do not depend on one another. */
  find(searches: readonly Search[]): Promise<readonly (readonly object[])[]>
  /** Calls the hooks of what was read, which has its own relations by then. */
  loaded(target: ResourceModel, entities: readonly object[]): Promise<void> | undefined
}

/**
 * Reads the relations of entities into their properties: one statement for each relation, whatever the number of entities.
 * A resource is found only in the tenant of the entity, and only while it is live.
 * @param tenant - of the operation; undefined where it spans all of them.
 * @throws ResourceExhausted for a page that has too many.
 */
export async function loadRelated(
  entities: readonly object[],
  trees: readonly LoadTree[],
  tenant: string | undefined,
  from: RelatedSource,
): Promise<void> {
  const links = trees.map((tree) => new Link(entities as readonly Values[], tree, tenant))
  const asked = links.filter((link) => link.refers)
  const found = asked.length === 0 ? [] : await from.find(asked.map((link) => link.search))
  for (const [i, link] of asked.entries()) link.found(found[i] ?? [])
  const deeper = asked.filter(({ read, tree }) => read.length > 0 && tree.below.length > 0)
  if (deeper.length > 0)
    await Promise.all(deeper.map(({ read, tree }) => loadRelated(read, tree.below, tenant, from)))
  for (const { read, tree } of asked) {
    const loading = read.length === 0 ? undefined : from.loaded(tree.target, read)
    if (loading !== undefined) await loading
  }
  for (const link of links) link.join()
}

/** One relation of entities, and what they refer to by it. */
class Link {
  readonly read: object[] = []
  /** The tenant of the entities, where they are of any, and so is what they refer to. */
  readonly #owner: Field | undefined
  /** The number of each value. Of several tenants the same value is different ones. */
  readonly #numbers = new Map<string, number>()
  /** By number, the first entity that has the value. */
  readonly #first: Values[] = []
  /** The number of each entity's value; -1 where it refers to nothing. */
  readonly #numberOf: number[] = []
  /** By number, what the value leads to: several in the order in which they were read. */
  readonly #there: (object | object[] | undefined)[] = []

  constructor(
    private readonly entities: readonly Values[],
    readonly tree: LoadTree,
    tenant: string | undefined,
  ) {
    const { from } = tree
    this.#owner = spans(tree, tenant) ? tree.source.tenant : undefined
    for (const entity of entities) this.#numberOf.push(this.#number(entity, entity[from.property]))
  }

  /** Whether any of the entities refers to anything. */
  get refers(): boolean {
    return this.#first.length > 0
  }

  get search(): Search {
    const { from } = this.tree
    const owner = this.#owner
    return {
      relation: this.tree,
      values: this.#first.map((entity) => entity[from.property] as string),
      tenants: owner && this.#first.map((entity) => entity[owner.property] as string),
      size: sizeOf(this.tree, this.#first.length),
    }
  }

  /**
   * @param read - may hold what none of the entities refers to.
   * @throws ResourceExhausted where there are too many.
   */
  found(read: readonly object[]): void {
    const { property, source, target, by, isMany } = this.tree
    if (isMany) for (let number = 0; number < this.#first.length; number++) this.#there[number] = []
    const owner = this.#owner && target.tenant
    for (const one of read as readonly Values[]) {
      const number = this.#numbers.get(placeOf(one, one[by.property] as string, owner))
      if (number === undefined) continue
      this.read.push(one)
      const there = this.#there[number]
      if (isMany) (there as object[]).push(one)
      else this.#there[number] = there ?? one
    }
    const size = sizeOf(this.tree, this.#first.length) ?? this.#first.length
    if (this.read.length > size)
      throw new ResourceExhausted(
        `with: ${property} of these ${source.entity.name} are more than ${size}: ask for a smaller page, or list ${target.entity.name} by itself`,
      )
  }

  /** Writes the property of each entity. */
  join(): void {
    const { write, isMany } = this.tree
    for (const [i, entity] of this.entities.entries())
      write(entity, this.#there[this.#numberOf[i] as number] ?? (isMany ? [] : undefined))
  }

  #number(entity: Values, value: unknown): number {
    if (typeof value !== 'string') return -1
    const place = placeOf(entity, value, this.#owner)
    const known = this.#numbers.get(place)
    if (known !== undefined) return known
    // A text that no database can hold refers to nothing, and an empty one neither.
    if (value === '' || !isStorable(value)) return -1
    this.#numbers.set(place, this.#first.length)
    return this.#first.push(entity) - 1
  }
}

/** How many resources are of use where entities refer to so many values; undefined where each is the key of one. */
const sizeOf = ({ target, by, isMany }: LoadTree, values: number): number | undefined =>
  isMany ? MAX_LOADED : by === target.key ? undefined : values

const placeOf = (entity: Values, value: string, owner: Field | undefined): string =>
  owner === undefined ? value : `${entity[owner.property] as string}\0${value}`
