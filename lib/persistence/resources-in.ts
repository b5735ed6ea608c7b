import { inheritedFacts } from '../../decorators/metadata.js'
import { type EntityClass, resourceModel, type ResourceModel } from '../resource/resource-model.js'

/**
 * The resources among a module's exports, by the names of their tables.
 * @throws DeclarationError for a resource whose declarations do not fit together.
 */
export function resourcesIn(exports: Readonly<Record<string, unknown>>): readonly ResourceModel[] {
  const models = [...new Set(Object.values(exports))]
    .filter(isResource)
    .map((entity) => resourceModel(entity))
  return models.sort((a, b) => (a.table < b.table ? -1 : 1))
}

const isResource = (value: unknown): value is EntityClass<object> =>
  typeof value === 'function' && inheritedFacts(value).resource !== undefined
