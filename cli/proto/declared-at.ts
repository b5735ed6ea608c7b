import type { DescField, DescMessage, DescMethod, DescService } from '@bufbuild/protobuf'
import type { Declared } from './surface-change.js'

/** Returns the position of a declaration; line 1 if the descriptors do not contain it. */
export function declaredAt(desc: DescMessage | DescField | DescService | DescMethod): Declared {
  const { proto } = desc.kind === 'message' || desc.kind === 'service' ? desc.file : desc.parent.file
  const path = pathOf(desc)
  const location = proto.sourceCodeInfo?.location.find(
    (one) => one.path.length === path.length && one.path.every((part, index) => part === path[index]),
  )
  return { file: proto.name, line: (location?.span[0] ?? 0) + 1 }
}

/**
 * Returns the path of a declaration in `google.protobuf.FileDescriptorProto`: field numbers, each followed by
 * an index.
 */
function pathOf(desc: DescMessage | DescField | DescService | DescMethod): readonly number[] {
  switch (desc.kind) {
    case 'message':
      return desc.parent === undefined
        ? [4, desc.file.proto.messageType.indexOf(desc.proto)]
        : [...pathOf(desc.parent), 3, desc.parent.proto.nestedType.indexOf(desc.proto)]
    case 'field':
      return [...pathOf(desc.parent), 2, desc.parent.proto.field.indexOf(desc.proto)]
    case 'service':
      return [6, desc.file.proto.service.indexOf(desc.proto)]
    case 'rpc':
      return [...pathOf(desc.parent), 2, desc.parent.proto.method.indexOf(desc.proto)]
  }
}
