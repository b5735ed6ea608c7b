import { getMetadataArgsStorage } from 'typeorm'

/** The properties of the primary key. @param classes - the entity, and what it extends. */
export const primaryProperties = (classes: ReadonlySet<unknown>): ReadonlySet<string | symbol> =>
  new Set(
    getMetadataArgsStorage()
      .columns.filter(({ target, options }) => classes.has(target) && options.primary === true)
      .map(({ propertyName }) => propertyName),
  )
