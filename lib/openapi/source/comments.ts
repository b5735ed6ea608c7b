import {
  createFileRegistry,
  type DescEnum,
  type DescEnumValue,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescMethod,
  type DescService,
  type FileRegistry,
  fromBinary,
} from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { markdown } from './markdown.js'

/** The descriptors that can have a comment. */
type Commented = DescEnum | DescEnumValue | DescField | DescMessage | DescMethod | DescService

/**
 * The comments in .proto files. Generated code contains none, but the output of `buf build -o image.binpb`
 * does.
 */
export class Comments {
  readonly #image: FileRegistry | undefined
  readonly #byFile = new Map<DescFile, ReadonlyMap<string, string>>()

  /**
   * @param image - a serialized google.protobuf.FileDescriptorSet with source info.
   * @throws TypeError if it is not one.
   */
  constructor(image?: Uint8Array) {
    this.#image = image === undefined ? undefined : registryOf(image)
  }

  /** Returns the leading comment of a declaration as CommonMark; empty if there is none. */
  of(desc: Commented): string {
    const commented = this.#inImage(desc) ?? desc
    const file = fileOf(commented)
    let comments = this.#byFile.get(file)
    if (comments === undefined) this.#byFile.set(file, (comments = commentsIn(file)))
    return comments.size === 0 ? '' : (comments.get(pathOf(commented).join('.')) ?? '')
  }

  #inImage(desc: Commented): Commented | undefined {
    switch (desc.kind) {
      case 'message':
        return this.#image?.getMessage(desc.typeName)
      case 'enum':
        return this.#image?.getEnum(desc.typeName)
      case 'service':
        return this.#image?.getService(desc.typeName)
      case 'field':
        return this.#image?.getMessage(desc.parent.typeName)?.fields.find(({ name }) => name === desc.name)
      case 'rpc':
        return this.#image?.getService(desc.parent.typeName)?.methods.find(({ name }) => name === desc.name)
      case 'enum_value':
        return this.#image?.getEnum(desc.parent.typeName)?.values.find(({ name }) => name === desc.name)
    }
  }
}

function registryOf(image: Uint8Array): FileRegistry {
  try {
    return createFileRegistry(fromBinary(FileDescriptorSetSchema, image))
  } catch (error) {
    throw new TypeError('openapi: the image is not a google.protobuf.FileDescriptorSet with all imports', {
      cause: error,
    })
  }
}

const fileOf = (desc: Commented): DescFile => ('file' in desc ? desc.file : desc.parent.file)

function commentsIn({ proto }: DescFile): ReadonlyMap<string, string> {
  const located = proto.sourceCodeInfo?.location ?? []
  return new Map(
    located.flatMap(({ path, leadingComments = '' }) =>
      leadingComments === '' ? [] : [[path.join('.'), cleaned(leadingComments)] as const],
    ),
  )
}

/** Field numbers in the messages of descriptor.proto. */
const IN_FILE = { message: 4, enum: 5, service: 6 } as const
const IN_MESSAGE = { field: 2, message: 3, enum: 4 } as const
const IN_ENUM_OR_SERVICE = 2

function pathOf(desc: Commented): readonly number[] {
  switch (desc.kind) {
    case 'service':
      return [IN_FILE.service, desc.file.services.indexOf(desc)]
    case 'rpc':
      return [...pathOf(desc.parent), IN_ENUM_OR_SERVICE, desc.parent.methods.indexOf(desc)]
    case 'enum_value':
      return [...pathOf(desc.parent), IN_ENUM_OR_SERVICE, desc.parent.values.indexOf(desc)]
    case 'field':
      return [...pathOf(desc.parent), IN_MESSAGE.field, desc.parent.fields.indexOf(desc)]
    case 'message':
      return desc.parent === undefined
        ? [IN_FILE.message, desc.file.proto.messageType.indexOf(desc.proto)]
        : [...pathOf(desc.parent), IN_MESSAGE.message, desc.parent.proto.nestedType.indexOf(desc.proto)]
    case 'enum':
      return desc.parent === undefined
        ? [IN_FILE.enum, desc.file.enums.indexOf(desc)]
        : [...pathOf(desc.parent), IN_MESSAGE.enum, desc.parent.nestedEnums.indexOf(desc)]
  }
}

const cleaned = (comment: string): string =>
  markdown(
    comment
      .split('\n')
      .map((line) => line.replace(/^ /, '').trimEnd())
      .join('\n')
      .trim(),
  )
