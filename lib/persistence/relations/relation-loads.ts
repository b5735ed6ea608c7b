import type { Field } from '../../resource/fields/field.js'
import { isOwning, type Relation } from '../../resource/relations/relation.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'

/** The number of relations a path has. */
export const MAX_PATH_DEPTH = 3

/** The search for the resources of one relation, from the entities that have it. */
export interface RelationLoad {
  readonly property: string
  readonly source: ResourceModel
  readonly target: ResourceModel
  /** The field of the source that identifies its resources. */
  readonly from: Field
  /** The field of the target that holds the same value. */
  readonly by: Field
  /** True if one source has several. */
  readonly isMany: boolean
  /** Writes the property of a source. */
  readonly write: (source: object, related: unknown) => void
  /** The value of `from` of a source. */
  readonly requested: (source: object) => unknown
  /** The value of `by` of a target. */
  readonly held: (target: object) => unknown
}

/** A relation that is read, and the relations of its target that are read with it. */
export interface LoadTree extends RelationLoad {
  readonly below: readonly LoadTree[]
}

/**
 * True if what entities refer to may be of several tenants. @param tenant - of the call; undefined where it
 * spans all of them.
 */
export const spans = ({ source, target }: RelationLoad, tenant: string | undefined): boolean =>
  tenant === undefined && source.tenant !== undefined && target.tenant !== undefined

const known = new WeakMap<Relation, RelationLoad>()

/** Returns the query that loads a relation's resources. */
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
 * Compiled: under a name that differs from call to call, adding a property takes ten times as long, and
 * reading it three times.
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
 * Parses the paths of `with`, once per list of them.
 * @throws TypeError if a path is too long or not a relation: the application wrote it, not the caller.
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

/** @param option - that names it. @throws TypeError for what is none. */
export function relationNamed(model: ResourceModel, name: string, option = 'with'): Relation {
  const relation = model.relations.find(({ property }) => property === name)
  if (relation !== undefined) return relation
  const names = model.relations.map(({ property }) => property).join(', ')
  throw new TypeError(
    `${option}: ${model.entity.name} has no relation "${name}"${names === '' ? '' : `: it has ${names}`}`,
  )
}

/**
 * The error of a call over all tenants in which a tenant's shared resource would lead to the rows of each
 * tenant.
 */
export const acrossTenants = (source: ResourceModel, target: ResourceModel): TypeError =>
  new TypeError(
    `${target.entity.name} resources of all tenants cannot be found through ${source.entity.name}, which tenants share: narrow the call with asSystem({ tenant })`,
  )
