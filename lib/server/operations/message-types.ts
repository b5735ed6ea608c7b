import {
  createRegistry,
  type DescFile,
  type DescMessage,
  type Message,
  type Registry,
  toBinary,
} from '@bufbuild/protobuf'
import { file_google_protobuf_empty } from '@bufbuild/protobuf/wkt'
import type { Packed } from './operation-store.js'

/**
 * Packs a message whose type is declared in the file or its imports.
 * @throws TypeError for any other type.
 */
export const pack = (message: Message, file: DescFile): Packed => {
  const desc = typesOf(file).getMessage(message.$typeName)
  if (desc === undefined)
    throw new TypeError(`${message.$typeName} is not known to ${file.name}.proto: import it there`)
  return { type: desc.typeName, value: toBinary(desc, message) }
}

/** Returns a message type declared in the file or its imports; undefined if there is none. */
export const typeNamed = (name: string, file: DescFile): DescMessage | undefined =>
  typesOf(file).getMessage(name)

const registries = new WeakMap<DescFile, Registry>()

const typesOf = (file: DescFile): Registry => {
  const known = registries.get(file)
  if (known !== undefined) return known
  const files = new Set<DescFile>([file_google_protobuf_empty])
  const add = (one: DescFile): void => {
    if (files.has(one)) return
    files.add(one)
    one.dependencies.forEach(add)
  }
  add(file)
  const registry = createRegistry(...files)
  registries.set(file, registry)
  return registry
}
