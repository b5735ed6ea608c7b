import { getMetadataArgsStorage } from 'typeorm'

type Generation = ReturnType<typeof getMetadataArgsStorage>['generations'][number]

/** A property whose value TypeORM's decorators declare as generated. */
export interface GeneratedProperty {
  readonly owner: object
  readonly property: string
}

/**
 * Returns the properties with `@PrimaryGeneratedColumn('uuid')` and `@Generated('uuid')`, and removes these
 * from TypeORM's metadata. The repository generates the values on every engine. TypeORM would on some engines
 * let the database generate them, although the column has no default.
 *
 * @param classes - the entity and its base classes.
 * @param isKept - true if TypeORM also generates the values when it writes the entity itself.
 * @param internal - the properties that Ashlar does not manage.
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
 * Returns the properties whose numbers the database generates: `@PrimaryGeneratedColumn()`,
 * `@Generated('increment')` and similar. TypeORM's own manager lets the database generate them, too.
 *
 * @param classes - the entity and its base classes.
 * @param internal - the properties that Ashlar does not manage.
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
