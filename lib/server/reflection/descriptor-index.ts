import {
  type DescEnum,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  toBinary,
} from '@bufbuild/protobuf'
import { nestedTypes } from '@bufbuild/protobuf/reflect'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { StatusSchema } from 'ashlar-annotations/google/rpc/status_pb.js'
import { DETAIL_TYPES } from '../../error-details.js'

/**
 * All files that the services need, indexed by the names declared in them. Names are full, without a leading
 * dot.
 */
export class DescriptorIndex {
  readonly #files = new Map<string, DescFile>()
  readonly #symbols = new Map<string, DescFile>()
  readonly #extensions = new Map<string, Map<number, DescFile>>()

  constructor(services: readonly DescService[]) {
    for (const { file } of services) this.#add(file)
    // Includes the error details, because clients need their files to print them.
    for (const { file } of [StatusSchema, ...DETAIL_TYPES]) this.#add(file)
  }

  /** @param name - as in an import statement, with `.proto`. */
  fileNamed(name: string): DescFile | undefined {
    return this.#files.get(name)
  }

  fileWith(symbol: string): DescFile | undefined {
    return this.#symbols.get(symbol)
  }

  fileExtending(message: string, number: number): DescFile | undefined {
    return this.#extensions.get(message)?.get(number)
  }

  /** Returns the extension numbers of a message; undefined for an unknown message. */
  extensionNumbers(message: string): readonly number[] | undefined {
    const numbers = this.#extensions.get(message)
    if (numbers !== undefined) return [...numbers.keys()].sort((a, b) => a - b)
    return this.#symbols.has(message) ? [] : undefined
  }

  #add(file: DescFile): void {
    const { name } = file.proto
    if (this.#files.has(name)) return
    this.#files.set(name, file)
    for (const declared of nestedTypes(file)) this.#declare(declared, file)
    for (const dependency of file.dependencies) this.#add(dependency)
  }

  #declare(declared: DescMessage | DescEnum | DescService | DescExtension, file: DescFile): void {
    const { typeName } = declared
    this.#symbols.set(typeName, file)
    switch (declared.kind) {
      case 'message':
        for (const { name } of [...declared.fields, ...declared.oneofs])
          this.#symbols.set(`${typeName}.${name}`, file)
        return
      case 'service':
        for (const { name } of declared.methods) this.#symbols.set(`${typeName}.${name}`, file)
        return
      case 'enum': {
        // In protobuf, enum values belong to the scope that contains their enum.
        const scope = typeName.slice(0, -declared.name.length)
        for (const { name } of declared.values) this.#symbols.set(scope + name, file)
        return
      }
      case 'extension': {
        const numbers = this.#extensions.get(declared.extendee.typeName) ?? new Map<number, DescFile>()
        this.#extensions.set(declared.extendee.typeName, numbers.set(declared.number, file))
      }
    }
  }
}

/**
 * Returns the file as protoc would write it, followed by its imports. Files in `sent` are omitted; new ones
 * are added to it.
 */
export const withImports = (file: DescFile, sent: Set<string>): Uint8Array[] => {
  if (sent.has(file.proto.name)) return []
  sent.add(file.proto.name)
  return [
    toBinary(FileDescriptorProtoSchema, file.proto),
    ...file.dependencies.flatMap((dependency) => withImports(dependency, sent)),
  ]
}
