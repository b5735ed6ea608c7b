import type { DescFile, DescMessage, DescService } from '@bufbuild/protobuf'

/**
 * The field number of the extensions `buf.validate.message`, `field` and `oneof`, stated here to avoid
 * loading them.
 */
const BUF_VALIDATE = 1159

interface Options {
  readonly $unknown?: readonly { readonly no: number }[] | undefined
}

const isRuled = (options: Options | undefined): boolean =>
  options?.$unknown?.some(({ no }) => no === BUF_VALIDATE) === true

/**
 * Returns the name of a part of the message that has `buf.validate` rules, for errors; undefined if no part
 * has any.
 */
export const ruledPart = (desc: DescMessage): string | undefined => {
  if (isRuled(desc.proto.options)) return desc.typeName
  const part =
    desc.fields.find(({ proto }) => isRuled(proto.options)) ??
    desc.oneofs.find(({ proto }) => isRuled(proto.options))
  return part && `${desc.typeName}.${part.name}`
}

/**
 * Returns the message types that a message can contain, including itself. The content of a
 * google.protobuf.Any is not included.
 */
export const reachable = (desc: DescMessage, found = new Set<DescMessage>()): ReadonlySet<DescMessage> => {
  if (found.has(desc)) return found
  found.add(desc)
  for (const { message } of desc.fields) if (message !== undefined) reachable(message, found)
  return found
}

/** Returns the files of services with all their imports. */
export const filesOf = (services: readonly DescService[]): ReadonlySet<DescFile> => {
  const files = new Set<DescFile>()
  const add = (file: DescFile): void => {
    if (files.has(file)) return
    files.add(file)
    for (const dependency of file.dependencies) add(dependency)
  }
  for (const { file } of services) add(file)
  return files
}
