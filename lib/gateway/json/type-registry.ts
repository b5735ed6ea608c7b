import { createRegistry, type DescFile, type DescMethod, type Registry } from '@bufbuild/protobuf'
import {
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
} from '@bufbuild/protobuf/wkt'
import { DETAIL_TYPES } from '../../error-details.js'

const ALWAYS = [
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
]

/**
 * Returns every type that a google.protobuf.Any in messages of these methods can contain: the types of their
 * files and of all imports.
 */
export function registryOf(methods: readonly DescMethod[]): Registry {
  return registryOfFiles(
    methods.flatMap(({ parent, input, output }) => [parent.file, input.file, output.file]),
  )
}

/** Returns the types of these files, of their imports, and of all error details. */
export const registryOfFiles = (files: readonly DescFile[]): Registry =>
  createRegistry(...withImports([...ALWAYS, ...DETAIL_TYPES.map(({ file }) => file), ...files]))

/** Returns the files and everything that they import, without duplicates. */
export function withImports(files: readonly DescFile[]): ReadonlySet<DescFile> {
  const found = new Set<DescFile>()
  const add = (file: DescFile): void => {
    if (found.has(file)) return
    found.add(file)
    file.dependencies.forEach(add)
  }
  files.forEach(add)
  return found
}
