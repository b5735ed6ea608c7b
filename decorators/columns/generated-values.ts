import { getMetadataArgsStorage } from 'typeorm'

type Generation = ReturnType<typeof getMetadataArgsStorage>['generations'][number]

/** A property that TypeORM's decorators say to be generated. */
export interface GeneratedProperty {
  readonly owner: object
  readonly property: string
}

/**
 * Takes over `@PrimaryGeneratedColumn('uuid')` and `@Generated('uuid')` from TypeORM: the repository
 * generates the values on every engine. On some, TypeORM would leave it to the database, where the column has
 * no default.
 * @param classes - the entity, and its base classes.
 * @param isKept - true if TypeORM generates them as well, if it writes the entity itself.
 * @param internal - properties that Ashlar does not manage.
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
 * The numbers that the database generates: `@PrimaryGeneratedColumn()`, `@Generated('increment')` and the
 * like. TypeORM's own manager leaves them to the database as well.
 * @param classes - the entity, and its base classes.
 * @param internal - properties that Ashlar does not manage.
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
