import { DeclarationError } from '../../errors.js'
import { shownValue } from '../../text/shown-value.js'

/** The kinds of Protobuf-ES 2 descriptors, and their names. */
const DESCRIPTORS = {
  message: 'the schema of a message, such as TaskSchema',
  service: 'the descriptor of a service, such as TaskService',
} as const

export type Described = keyof typeof DESCRIPTORS

/** Returns the name of a kind of descriptor for messages, with its generator. */
export const descriptorName = (kind: Described): string =>
  `${DESCRIPTORS[kind]} of what @bufbuild/protoc-gen-es 2 generates`

/** Returns true if a value is a descriptor of that kind. */
export const isDescriptor = (kind: Described, value: unknown): boolean =>
  (value as { readonly kind?: unknown } | null | undefined)?.kind === kind

/**
 * Rejects a value that is not a service descriptor.
 * @param subject - the subject of the problem.
 * @param taker - the function that received the value.
 * @throws DeclarationError with the generator that wrote the value.
 */
export function requireService(subject: string, taker: string, value: unknown): void {
  if (!isDescriptor('service', value))
    throw new DeclarationError(subject, [
      `${taker} takes ${descriptorName('service')}, not ${shownGenerated(value)}`,
    ])
}

/**
 * Formats a value that was passed instead of a descriptor, with its generator: `notes.v1.Note of ts-proto`.
 */
export function shownGenerated(value: unknown): string {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return shownValue(value)
  const given = value as Given
  const found = GENERATORS.find(({ wrote }) => wrote(given))
  if (found === undefined) return shownValue(value)
  const name = found.nameOf(given)
  return typeof name === 'string' && name !== '' ? `${name} of ${found.name}` : `code of ${found.name}`
}

type Given = Readonly<Record<string, unknown>>

interface Generator {
  readonly name: string
  readonly wrote: (given: Given) => boolean
  readonly nameOf: (given: Given) => unknown
}

const isFunction = (value: unknown): boolean => typeof value === 'function'

/** Returns the service's name in a method's path, such as `/notes.v1.NoteService/GetNote`. */
const serviceOf = (definition: unknown): string | undefined => {
  if (typeof definition !== 'object' || definition === null) return undefined
  const [method] = Object.values(definition) as readonly (Given | undefined)[]
  return typeof method?.['path'] === 'string' ? method['path'].split('/')[1] : undefined
}

/** Known generators. The first match is used. */
const GENERATORS: readonly Generator[] = [
  {
    name: 'Protobuf-ES 1',
    wrote: ({ typeName, fields, methods }) =>
      typeof typeName === 'string' && (fields !== undefined || methods !== undefined),
    nameOf: ({ typeName }) => typeName,
  },
  {
    name: 'ts-proto',
    wrote: (given) => !isFunction(given) && isFunction(given['encode']) && isFunction(given['decode']),
    nameOf: ({ $type }) => $type,
  },
  {
    name: 'ts-proto',
    wrote: ({ fullName, methods }) => typeof fullName === 'string' && typeof methods === 'object',
    nameOf: ({ fullName }) => fullName,
  },
  {
    name: '@grpc/grpc-js',
    wrote: (given) => (serviceOf(given['service']) ?? serviceOf(given)) !== undefined,
    nameOf: (given) => serviceOf(given['service']) ?? serviceOf(given),
  },
  {
    name: '@grpc/proto-loader',
    wrote: ({ format, type }) => typeof format === 'string' && typeof type === 'object',
    nameOf: ({ type }) => (type as Given | null)?.['name'],
  },
  {
    name: 'google-protobuf',
    wrote: ({ deserializeBinary }) => isFunction(deserializeBinary),
    nameOf: ({ name }) => name,
  },
  {
    name: 'protobuf.js',
    wrote: (given) => isFunction(given) && (isFunction(given['create']) || isFunction(given['encode'])),
    nameOf: ({ name }) => name,
  },
]
