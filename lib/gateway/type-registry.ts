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
import { DETAIL_TYPES } from '../error-details.js'

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
 * Every type that a message of these methods can hold in a google.protobuf.Any: those of their files, and of all
 * imports.
 */
export function registryOf(methods: readonly DescMethod[]): Registry {
  const files = new Set<DescFile>()
  const add = (file: DescFile): void => {
    if (files.has(file)) return
    files.add(file)
    file.dependencies.forEach(add)
  }
  ALWAYS.forEach(add)
  for (const { file } of DETAIL_TYPES) add(file)
  for (const { parent, input, output } of methods) for (const { file } of [parent, input, output]) add(file)
  return createRegistry(...files)
}
