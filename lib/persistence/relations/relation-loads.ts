import type { Field } from '../../resource/fields/field.js'
import { isOwning, type Relation } from '../../resource/relations/relation.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'

/** The maximum number of relations in a path. */
export const MAX_PATH_DEPTH = 3

/** Describes how the resources of a relation are found from the entities that have it. */
export interface RelationLoad {
  readonly property: string
  readonly source: ResourceModel
  readonly target: ResourceModel
  /** The source's field that identifies related resources. */
  readonly from: Field
  /** The target's field with the same value. */
  readonly by: Field
  /** True if one source can have several related resources. */
  readonly isMany: boolean
  /** Sets the source's property. */
  readonly write: (source: object, related: unknown) => void
  /** Returns the value of the source's `from` field. */
  readonly requested: (source: object) => unknown
  /** Returns the value of the target's `by` field. */
  readonly held: (target: object) => unknown
}

/** A relation to read, with the relations of its target to read. */
export interface LoadTree extends RelationLoad {
  readonly below: readonly LoadTree[]
}

/**
 * Returns true if related resources may belong to several tenants.
 *
 * @param tenant - the call's tenant. Undefined if it spans all tenants.
 */
export const spans = ({ source, target }: RelationLoad, tenant: string | undefined): boolean =>
  tenant === undefined && source.tenant !== undefined && target.tenant !== undefined

const known = new WeakMap<Relation, RelationLoad>()

/** Returns how a relation's resources are loaded. */
export function relationLoad(source: ResourceModel, relation: Relation): RelationLoad {
  let load = known.get(relation)
  if (load === undefined) known.set(relation, (load = Object.freeze(loadOf(source, relation))))
  return load
}

function loadOf(source: ResourceModel, relation: Relation): RelationLoad {
  const { property } = relation
  const target: ResourceModel = resourceModel(relation.target())
  if (isOwning(relation))
    return {
      property,
      source,
      target,
      from: relation.reference,
      by: target.key,
      isMany: false,
      ...accessOf(property, relation.reference, target.key),
    }
  const other = target.relations.find((one) => one.property === relation.inverse)
  if (other === undefined || !isOwning(other))
    throw new TypeError(
      `${source.entity.name}.${property}: ${target.entity.name}.${relation.inverse} is not a relation: write @ManyToOne() above it`,
    )
  return {
    property,
    source,
    target,
    from: source.key,
    by: other.reference,
    isMany: relation.kind === 'one-to-many',
    ...accessOf(property, source.key, other.reference),
  }
}

type Access = Pick<RelationLoad, 'write' | 'requested' | 'held'>

/**
 * Compiles property accesses. With a property name that varies between calls, adding the property takes ten
 * times and reading it three times as long.
 */
function accessOf(property: string, from: Field, by: Field): Access {
  const access = `{
    write: (source, related) => { source[${JSON.stringify(property)}] = related },
    requested: (source) => source[${JSON.stringify(from.property)}],
    held: (target) => target[${JSON.stringify(by.property)}],
  }`
  // Property names come from declared classes, never from input.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- see above
  return (new Function(`return ${access}`) as () => Access)()
}

/**
 * Parses the paths of `with`.
 *
 * @throws TypeError if a path is too long or not a relation, because the application wrote it.
 */
export function loadTrees(model: ResourceModel, paths: readonly string[]): readonly LoadTree[] {
  const trees: { -readonly [K in keyof LoadTree]: LoadTree[K] }[] = []
  for (const path of paths) {
    let inside = model
    let level = trees
    const names = String(path).split('.')
    if (names.length > MAX_PATH_DEPTH)
      throw new TypeError(
        `with: "${path}" has more than ${MAX_PATH_DEPTH} relations: read the rest separately`,
      )
    for (const name of names) {
      let tree = level.find(({ property }) => property === name)
      if (tree === undefined)
        level.push((tree = { ...relationLoad(inside, relationNamed(inside, name)), below: [] }))
      inside = tree.target
      level = tree.below as typeof trees
    }
  }
  return trees
}

/**
 * Returns the relation of a resource by its name.
 *
 * @param option - the option that names it.
 * @throws TypeError if the resource has no such relation.
 */
export function relationNamed(model: ResourceModel, name: string, option = 'with'): Relation {
  const relation = model.relations.find(({ property }) => property === name)
  if (relation !== undefined) return relation
  const names = model.relations.map(({ property }) => property).join(', ')
  throw new TypeError(
    `${option}: ${model.entity.name} has no relation "${name}"${names === '' ? '' : `: it has ${names}`}`,
  )
}

/**
 * Returns the error of a call across all tenants that would find rows of each tenant through a shared
 * resource.
 */
export const acrossTenants = (source: ResourceModel, target: ResourceModel): TypeError =>
  new TypeError(
    `${target.entity.name} resources of all tenants cannot be found through ${source.entity.name}, which tenants share: narrow the call with asSystem({ tenant })`,
  )
