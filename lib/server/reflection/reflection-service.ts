import type { DescFile, DescService, MessageInitShape } from '@bufbuild/protobuf'
import { CODES, InvalidArgument } from '../../errors.js'
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from '../../gen/grpc/reflection/v1/reflection_pb.js'
import { ServerReflection as ServerReflectionAlpha } from '../../gen/grpc/reflection/v1alpha/reflection_pb.js'
import { DescriptorIndex, withImports } from './descriptor-index.js'
import type { Implementation } from '../chain/handler.js'
import { MAX_NAME_CHARACTERS, pathOf } from '../chain/method.js'
import type { Rule } from '../authz/rules.js'

type MessageResponse = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>['messageResponse']>

/** Both reflection versions, in the order in which clients try them. */
export const reflectionServices: readonly DescService[] = [ServerReflection, ServerReflectionAlpha]

/** Reflection is public because a client that lists the services has no identity yet. */
export const reflectionRules: readonly Rule[] = reflectionServices
  .flatMap(({ methods }) => methods)
  .map((method) => ({ method: pathOf(method), public: true }))

/**
 * Implements gRPC server reflection of either version. Their messages differ only in the package name.
 * @param services - returns the served services; called for the first request.
 */
export const reflectionService = (
  services: () => readonly DescService[],
): Implementation<typeof ServerReflection> => {
  let index: DescriptorIndex | undefined
  return {
    serverReflectionInfo: async function* (requests) {
      index ??= new DescriptorIndex(services())
      const sent = new Set<string>()
      for await (const request of requests) {
        checkLengths(request)
        const messageResponse = responseTo(request, index, services, sent)
        yield { validHost: request.host, originalRequest: request, messageResponse }
      }
    },
  }
}

/** @throws InvalidArgument if a string in the request is longer than any name. */
const checkLengths = ({ host, messageRequest: { value } }: ServerReflectionRequest): void => {
  const name = typeof value === 'object' ? value.containingType : value
  if (host.length > MAX_NAME_CHARACTERS || (name?.length ?? 0) > MAX_NAME_CHARACTERS)
    throw new InvalidArgument('message_request', `has a name of more than ${MAX_NAME_CHARACTERS} characters`)
}

const responseTo = (
  { messageRequest: { case: asked, value } }: ServerReflectionRequest,
  index: DescriptorIndex,
  services: () => readonly DescService[],
  sent: Set<string>,
): MessageResponse => {
  switch (asked) {
    case 'fileByFilename':
      return fileOr(index.fileNamed(value), `there is no file ${value}`, sent)
    case 'fileContainingSymbol':
      return fileOr(index.fileWith(value), `there is no symbol ${value}`, sent)
    case 'fileContainingExtension': {
      const { containingType, extensionNumber } = value
      const text = `there is no extension ${extensionNumber} of ${containingType}`
      return fileOr(index.fileExtending(containingType, extensionNumber), text, sent)
    }
    case 'allExtensionNumbersOfType': {
      const extensionNumber = index.extensionNumbers(value)
      if (extensionNumber === undefined) return notFound(`there is no message ${value}`)
      return {
        case: 'allExtensionNumbersResponse',
        value: { baseTypeName: value, extensionNumber: [...extensionNumber] },
      }
    }
    case 'listServices': {
      const service = services().map(({ typeName }) => ({ name: typeName }))
      return { case: 'listServicesResponse', value: { service } }
    }
    case undefined:
      throw new InvalidArgument('message_request', 'the request is empty')
  }
}

/** Returns the requested file and its imports. Imports that were already sent on this stream are omitted. */
const fileOr = (file: DescFile | undefined, otherwise: string, sent: Set<string>): MessageResponse => {
  if (file === undefined) return notFound(otherwise)
  sent.delete(file.proto.name)
  return {
    case: 'fileDescriptorResponse',
    value: { fileDescriptorProto: withImports(file, sent) },
  }
}

const notFound = (errorMessage: string): MessageResponse => ({
  case: 'errorResponse',
  value: { errorCode: CODES.NOT_FOUND, errorMessage },
})
