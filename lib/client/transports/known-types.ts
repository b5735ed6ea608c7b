import type { DescMethod, Registry } from '@bufbuild/protobuf'
import { registryOf } from '../../gateway/json/type-registry.js'

const registries = new WeakMap<DescMethod, Registry>()

/** Returns the types that error details of the method may have: the types of its files and of all imports. */
export const knownTypes = (method: DescMethod): Registry => {
  const known = registries.get(method) ?? registryOf([method])
  registries.set(method, known)
  return known
}
