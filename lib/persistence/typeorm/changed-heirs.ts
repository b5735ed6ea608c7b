import type { DataSource } from 'typeorm'
import { inheritedFacts } from '../../../decorators/entity-facts.js'
import { isResource } from '../../resource/resource-model.js'

/**
 * Returns advice for entities of an initialized DataSource that are not resources but share a base class with
 * one. TypeORM has one column object for all subclasses, which the resource has changed.
 */
export const changedHeirs = ({ entityMetadatas }: DataSource): readonly string[] =>
  entityMetadatas.flatMap(({ target, name }) => {
    if (typeof target !== 'function' || isResource(target)) return []
    const changed = [...inheritedFacts(target).properties].flatMap(([property, { isManaged }]) =>
      isManaged === true ? [property] : [],
    )
    return changed.length === 0
      ? []
      : [
          `${name} is not a resource, and inherits ${changed.join(', ')} from a class that a resource extends. The resource names these columns in snake_case and adds the tenant to the primary key, for ${name} as well: write naming: 'typeorm' in its @Resource(), or declare them in each class`,
        ]
  })
