import { getMetadataArgsStorage } from 'typeorm'

type Generation = ReturnType<typeof getMetadataArgsStorage>['generations'][number]

/** A property that TypeORM's decorators say to be generated. */
export interface GeneratedProperty {
  readonly owner: object
  readonly property: string
}

/**
 * Takes `@PrimaryGeneratedColumn('uuid')` and `@Generated('uuid')` from TypeORM: the repository mints them on
 * every engine. TypeORM would leave it to the database on some, where the column has no default.
 * @param classes - the entity, and what it extends.
 * @param isKept - whether TypeORM mints them as well, where it writes the entity itself.
 * @param internal - properties that are left to TypeORM.
 */
export function takeGeneratedUuids(
  classes: ReadonlySet<unknown>,
  isKept: boolean,
  internal: ReadonlySet<string>,
): readonly GeneratedProperty[] {
  const { generations } = getMetadataArgsStorage()
  const taken = generationsOf(classes, internal, UUIDS)
  if (!isKept) for (const one of taken) generations.splice(generations.indexOf(one), 1)
  return taken.map(propertyOf)
}

/**
 * The numbers that the database mints: `@PrimaryGeneratedColumn()`, `@Generated('increment')` and the like.
 * TypeORM keeps them, and its own manager leaves them to the database as well.
 * @param classes - the entity, and what it extends.
 * @param internal - properties that are left to TypeORM.
 */
export function generatedNumbers(
  classes: ReadonlySet<unknown>,
  internal: ReadonlySet<string>,
): readonly GeneratedProperty[] {
  return generationsOf(classes, internal, NUMBERS).map(propertyOf)
}

const UUIDS: ReadonlySet<unknown> = new Set(['uuid'])
const NUMBERS: ReadonlySet<unknown> = new Set(['increment', 'identity'])

const generationsOf = (
  classes: ReadonlySet<unknown>,
  internal: ReadonlySet<string>,
  strategies: ReadonlySet<unknown>,
): readonly Generation[] =>
  getMetadataArgsStorage().generations.filter(
    ({ target, strategy, propertyName }) =>
      classes.has(target) && strategies.has(strategy) && !internal.has(propertyName),
  )

const propertyOf = ({ target, propertyName: property }: Generation): GeneratedProperty => ({
  owner: (target as { readonly prototype: object }).prototype,
  property,
})
