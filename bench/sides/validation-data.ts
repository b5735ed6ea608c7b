import { create, createFileRegistry, type DescMessage, type Message, setExtension } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'
import type { Call } from '../../lib/server/chain/call.js'
import type { Next } from '../../lib/server/chain/interceptor.js'
import { methodOf } from '../../lib/server/chain/method.js'
import { validation } from '../../lib/server/validation/validation.js'
import {
  field_behavior,
  FieldBehavior,
  file_google_api_field_behavior,
} from '../../lib/gen/google/api/field_behavior_pb.js'

const NAMES = ['title', 'note', 'city', 'street', 'code', 'color', 'shape', 'owner', 'shelf', 'label']

/** `Check(Thing)` with ten texts, of which the first ones are REQUIRED. */
const serviceWith = (required: number) => {
  const file = create(FileDescriptorProtoSchema, {
    name: 'things.proto',
    package: 'things.v1',
    syntax: 'proto3',
    dependency: [file_google_api_field_behavior.proto.name],
    messageType: [
      {
        name: 'Thing',
        field: NAMES.map((name, index) => {
          const options = create(FieldOptionsSchema)
          if (index < required) setExtension(options, field_behavior, [FieldBehavior.REQUIRED])
          const [type, label] = [FieldDescriptorProto_Type.STRING, FieldDescriptorProto_Label.OPTIONAL]
          return { name, number: index + 1, type, label, options }
        }),
      },
    ],
    service: [
      {
        name: 'Things',
        method: [{ name: 'Check', inputType: '.things.v1.Thing', outputType: '.things.v1.Thing' }],
      },
    ],
  })
  const service = createFileRegistry(file, () => file_google_api_field_behavior).getService(
    'things.v1.Things',
  )
  if (service === undefined) throw new TypeError('there is no service')
  return service
}

/** A call of a method with so many required fields on its way through validation, as the chain composes it. */
export const validated = (required: number): (() => void) => {
  const [desc] = serviceWith(required).methods
  if (desc === undefined) throw new TypeError('there is no method')
  const next: Next<Call> = (call) => call.request as Message
  const run = validation(undefined)(next as never, { method: methodOf(desc), handler: {} as never })
  const input: DescMessage = desc.input
  const request = create(input, Object.fromEntries(NAMES.map((name) => [name, 'a text'])))
  const call = { request, requests: undefined, ignoredMask: [] } as unknown as Call
  return () => {
    if (run(call as never) !== request) throw new TypeError('not passed on')
  }
}
