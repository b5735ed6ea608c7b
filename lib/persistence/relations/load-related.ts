import { ResourceExhausted } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import { keyPartOf } from '../../resource/keys/key-part.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Values } from '../contract/new-entity.js'
import { type LoadTree, spans } from './relation-loads.js'
import type { Search } from './search.js'

/** The maximum number of related resources on a page, for a relation to several. */
export const MAX_LOADED = 10_000

/** Reads related resources. */
export interface RelatedSource {
  /**
   * Returns the rows that the call reaches for each search, with one statement per search. The searches are
   * independent.
   */
  find(searches: readonly Search[]): Promise<readonly (readonly object[])[]>
  /**
   * Calls the hooks of entities that were read, when their own relations are loaded.
   *
   * @param entities - returns the entities.
   */
  loaded(target: ResourceModel, entities: () => readonly object[]): Promise<void> | undefined
}

/**
 * Reads the relations of entities into their properties, with one statement per relation. A related resource
 * is found only if it is live and has the entity's tenant.
 *
 * @param tenant - the operation's tenant. Undefined if it spans all tenants.
 * @throws ResourceExhausted if the page has too many related resources.
 */
export async function loadRelated(
  entities: readonly object[],
  trees: readonly LoadTree[],
  tenant: string | undefined,
  from: RelatedSource,
): Promise<void> {
  const links = trees.map((tree) => new Link(entities as readonly Values[], tree, tenant))
  const asked = links.filter((link) => link.refers)
  const found = asked.length === 0 ? [] : await from.find(asked)
  for (const [i, link] of asked.entries()) link.found(found[i] ?? [])
  const deeper = asked.filter(({ relation }) => relation.below.length > 0)
  if (deeper.length > 0)
    await Promise.all(deeper.map((link) => loadRelated(link.read(), link.relation.below, tenant, from)))
  for (const link of asked) {
    const loading = from.loaded(link.relation.target, () => link.read())
    if (loading !== undefined) await loading
  }
  for (const link of links) link.join()
}

/** A relation of entities and their related resources. */
class Link implements Search {
  /** The tenant of the entities, if both they and their related resources may belong to several tenants. */
  readonly #owner: Field | undefined
  /** True if the value identifies one resource. */
  readonly #isByKey: boolean
  #distinct: readonly Values[] | undefined
  /**
   * The related resources of each entity: one resource if it is found by key, otherwise a list in the order
   * of reading.
   */
  #there: readonly (object | undefined)[] = []
  #read: readonly object[] | undefined

  constructor(
    private readonly entities: readonly Values[],
    readonly relation: LoadTree,
    tenant: string | undefined,
  ) {
    this.#owner = spans(relation, tenant) ? relation.source.tenant : undefined
    this.#isByKey = relation.by === relation.target.key
  }

  /** True if one of the entities refers to a resource. */
  get refers(): boolean {
    return this.entities.some((entity) => this.#refers(entity))
  }

  get values(): readonly string[] {
    return this.#first.map((entity) => this.#valueOf(entity))
  }

  get tenants(): readonly string[] | undefined {
    const owner = this.#owner
    return owner && this.#first.map((entity) => keyPartOf(owner).textOf(entity[owner.property]))
  }

  get size(): number | undefined {
    if (this.relation.isMany) return MAX_LOADED
    return this.#isByKey ? undefined : this.#first.length
  }

  /**
   * Assigns the resources that were read to their entities.
   *
   * @param read - the resources that were read, including those that no entity refers to.
   * @throws ResourceExhausted if there are too many.
   */
  found(read: readonly object[]): void {
    const { held, target } = this.relation
    const by = keyPartOf(this.relation.by)
    const owner = this.#owner && target.tenant
    const found = new Map<string, object>()
    for (const one of read as readonly Values[]) {
      const place = placeOf(one, by.textOf(held(one)), owner)
      const there = found.get(place) as object[] | undefined
      if (this.#isByKey) found.set(place, one)
      else if (there === undefined) found.set(place, [one])
      else there.push(one)
    }
    this.#there = this.entities.map((entity) => {
      const value = this.#valueOf(entity)
      // An empty string refers to nothing.
      return value === '' ? undefined : found.get(placeOf(entity, value, this.#owner))
    })
    if (!this.#isByKey) this.#checkSize()
  }

  /** Returns each found resource once. */
  read(): readonly object[] {
    return (this.#read ??= [...new Set(this.#there)].flat().filter((one) => one !== undefined))
  }

  /** Sets the property of each entity. */
  join(): void {
    const { write, isMany } = this.relation
    const { length } = this.entities
    for (let i = 0; i < length; i++) {
      const there = this.#there[i]
      const isFirst = !this.#isByKey && !isMany
      write(
        this.entities[i] as object,
        isFirst ? (there as object[] | undefined)?.[0] : (there ?? (isMany ? [] : undefined)),
      )
    }
  }

  /** One entity for each distinct value. */
  get #first(): readonly Values[] {
    if (this.#distinct !== undefined) return this.#distinct
    const first = new Map<string, Values>()
    for (const entity of this.entities) {
      if (!this.#refers(entity)) continue
      const place = placeOf(entity, this.#valueOf(entity), this.#owner)
      if (!first.has(place)) first.set(place, entity)
    }
    return (this.#distinct = [...first.values()])
  }

  /** Returns false for an empty string, and for a string that no row can have. */
  #refers(entity: Values): boolean {
    const value = this.#valueOf(entity)
    return value !== '' && keyPartOf(this.relation.by).valueOf(value) !== undefined
  }

  #valueOf(entity: Values): string {
    return keyPartOf(this.relation.from).textOf(this.relation.requested(entity))
  }

  #checkSize(): void {
    const { property, source, target } = this.relation
    const size = this.size as number
    if (this.read().length > size)
      throw new ResourceExhausted(
        `with: ${property} of these ${source.entity.name} resources are more than ${size}: request a smaller page, or list ${target.entity.name} separately`,
      )
  }
}

const placeOf = (entity: Values, value: string, owner: Field | undefined): string =>
  owner === undefined ? value : `${keyPartOf(owner).textOf(entity[owner.property])}\0${value}`
