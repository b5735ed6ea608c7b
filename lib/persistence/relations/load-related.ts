import { ResourceExhausted } from '../../errors.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { ListPlan } from '../contract/list-plan.js'
import type { Values } from '../contract/new-entity.js'
import type { Page } from '../contract/repository.js'
import { and, equals, type FilterNode, or } from '../query/plan.js'
import { isStorable } from '../query/reachable.js'
import type { LoadTree } from './relation-loads.js'

/** The most resources that one relation of a page has where each entity may have several. */
export const MAX_LOADED = 10_000

/** Where the resources of relations are read. */
export interface RelatedSource {
  /** A list of what the call reaches, in one statement. */
  list(target: ResourceModel, plan: ListPlan): Promise<Page<object>>
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
  await Promise.all(trees.map((tree) => loadOne(entities, tree, tenant, from)))
}

async function loadOne(
  entities: readonly object[],
  tree: LoadTree,
  tenant: string | undefined,
  related: RelatedSource,
): Promise<void> {
  const { property, source, target, from, by, isMany, below } = tree
  const sources = (entities as readonly Values[]).filter((entity) => isReferring(entity[from.property]))
  const across = tenant === undefined && target.tenant !== undefined ? source.tenant : undefined
  const found: readonly object[] =
    sources.length === 0 ? [] : await readAll(sources, tree, across?.property, related)
  await loadRelated(found, below, tenant, related)
  if (found.length > 0) await related.loaded(target, found)
  const ofSource = (entity: Values) => placeOf(entity, from.property, across?.property)
  const ofTarget = across === undefined ? undefined : target.tenant?.property
  const places = new Map<string, object[]>()
  for (const one of found) {
    const place = placeOf(one as Values, by.property, ofTarget)
    const there = places.get(place)
    if (there === undefined) places.set(place, [one])
    else there.push(one)
  }
  for (const entity of entities as Values[]) {
    const there = isReferring(entity[from.property]) ? places.get(ofSource(entity)) : undefined
    entity[property] = isMany ? [...(there ?? [])] : there?.[0]
  }
}

async function readAll(
  sources: readonly Values[],
  { property, source, target, from, by, isMany }: LoadTree,
  across: string | undefined,
  related: RelatedSource,
): Promise<readonly object[]> {
  const keysOf = (some: readonly Values[]) => [...new Set(some.map((one) => one[from.property] as string))]
  const among = (values: readonly string[]): FilterNode => ({ kind: 'among', column: by, values })
  const tenants = across === undefined ? [] : [...new Set(sources.map((one) => one[across] as string))]
  const filter =
    across === undefined
      ? among(keysOf(sources))
      : or(
          ...tenants.map((owner) =>
            and(
              equals(target.tenant as NonNullable<ResourceModel['tenant']>, owner),
              among(keysOf(sources.filter((one) => one[across] === owner))),
            ),
          ),
        )
  const size = isMany ? MAX_LOADED : sources.length
  const { items, nextPageToken } = await related.list(target, planOf(target, filter, size))
  if (nextPageToken !== '')
    throw new ResourceExhausted(
      `with: ${property} of these ${source.entity.name} are more than ${size}: ask for a smaller page, or list ${target.entity.name} by itself`,
    )
  return items
}

/** A list of live rows, in the order of their keys. */
const planOf = (target: ResourceModel, filter: FilterNode, size: number): ListPlan => ({
  filter,
  search: '',
  showDeleted: false,
  terms: [{ column: target.key, direction: 'asc' }],
  cursor: undefined,
  size,
  nextPageToken: () => 'more',
})

/** A text that no database can hold refers to nothing, and an empty one neither. */
const isReferring = (value: unknown): boolean =>
  typeof value === 'string' && value !== '' && isStorable(value)

const placeOf = (entity: Values, property: string, tenant: string | undefined): string =>
  tenant === undefined
    ? (entity[property] as string)
    : `${entity[tenant] as string}\0${entity[property] as string}`
