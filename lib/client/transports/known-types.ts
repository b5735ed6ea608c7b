import type { DescMethod, Registry } from '@bufbuild/protobuf'
import { registryOf } from '../../gateway/json/type-registry.js'

const registries = new WeakMap<DescMethod, Registry>()

/**
 * The types that an error of the method may have as details: the types of its files and of all their imports.
 */
export const knownTypes = (method: DescMethod): Registry => {
  const known = registries.get(method) ?? registryOf([method])
  registries.set(method, known)
  return known
}
