import { getMetadataArgsStorage } from 'typeorm'

/**
 * Takes `@PrimaryGeneratedColumn('uuid')` and `@Generated('uuid')` from TypeORM: the repository mints them on
 * every engine. TypeORM would leave it to the database on some, where the column has no default.
 * @param classes - the entity, and what it extends.
 * @returns the properties.
 */
export function takeGeneratedUuids(
  classes: ReadonlySet<unknown>,
): readonly { readonly owner: object; readonly property: string }[] {
  const { generations } = getMetadataArgsStorage()
  const taken = generations.filter(({ target, strategy }) => classes.has(target) && strategy === 'uuid')
  for (const one of taken) generations.splice(generations.indexOf(one), 1)
  return taken.map(({ target, propertyName: property }) => ({
    owner: (target as { readonly prototype: object }).prototype,
    property,
  }))
}
