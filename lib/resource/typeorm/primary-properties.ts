import { getMetadataArgsStorage } from 'typeorm'

/**
 * Returns the properties of the primary key.
 * @param classes - the entity and its ancestors.
 */
export const primaryProperties = (classes: ReadonlySet<unknown>): ReadonlySet<string | symbol> =>
  new Set(
    getMetadataArgsStorage()
      .columns.filter(({ target, options }) => classes.has(target) && options.primary === true)
      .map(({ propertyName }) => propertyName),
  )
