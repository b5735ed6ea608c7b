import { getMetadataArgsStorage } from 'typeorm'

/**
 * Takes `@PrimaryGeneratedColumn('uuid')` and `@Generated('uuid')` from TypeORM: the repository mints them on
 * every engine. TypeORM would leave it to the database on some, where the column has no default.
 * @param classes - the entity, and what it extends.
 * @param isKept - whether TypeORM mints them as well, where it writes the entity itself.
 * @param internal - properties that are left to TypeORM.
 * @returns the properties.
 */
export function takeGeneratedUuids(
  classes: ReadonlySet<unknown>,
  isKept: boolean,
  internal: ReadonlySet<string>,
): readonly { readonly owner: object; readonly property: string }[] {
  const { generations } = getMetadataArgsStorage()
  const taken = generations.filter(
    ({ target, strategy, propertyName }) =>
      classes.has(target) && strategy === 'uuid' && !internal.has(propertyName),
  )
  if (!isKept) for (const one of taken) generations.splice(generations.indexOf(one), 1)
  return taken.map(({ target, propertyName: property }) => ({
    owner: (target as { readonly prototype: object }).prototype,
    property,
  }))
}
