import { getMetadataArgsStorage } from 'typeorm'

type RelationArgs = ReturnType<typeof getMetadataArgsStorage>['relations'][number]

const known = new WeakMap<RelationArgs, object>()
const declared = new WeakMap<RelationArgs, RelationArgs['type']>()

/**
 * Returns the target of a relation. TypeORM accepts a function that returns a class, or the name of a class
 * or its table. For a target that is not yet loaded, returns undefined or its name.
 */
export function targetClass(relation: RelationArgs): unknown {
  const type = declared.get(relation) ?? relation.type
  const found: unknown =
    known.get(relation) ?? (typeof type === 'function' ? (type as () => unknown)() : type)
  if (typeof found !== 'string') return found
  const named = entityNamed(found, relation.target)
  if (named !== undefined) known.set(relation, named)
  return named ?? found
}

/** Calls a function with the target when TypeORM requests it. */
export function onTarget(relation: RelationArgs, call: (target: object) => void): void {
  if (declared.has(relation)) return
  declared.set(relation, relation.type)
  Object.assign(relation, {
    type: () => {
      const target = targetClass(relation)
      if (typeof target === 'function') call(target)
      return target
    },
  })
}

/**
 * Returns the entity with this name. If there are several, returns the one declared nearest to the owner of
 * the relation.
 */
function entityNamed(name: string, owner: unknown): object | undefined {
  const classes = getMetadataArgsStorage().tables.map(({ target }) => target)
  const place = classes.indexOf(owner as never)
  const away = (at: number) => Math.abs(at - place)
  let nearest: number | undefined
  for (const [at, table] of getMetadataArgsStorage().tables.entries()) {
    const isNamed = typeof table.target === 'function' && [table.target.name, table.name].includes(name)
    if (isNamed && (nearest === undefined || away(at) <= away(nearest))) nearest = at
  }
  return nearest === undefined ? undefined : (classes[nearest] as object)
}
