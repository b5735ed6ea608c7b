import {
  type DescExtension,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescMethod,
  type DescService,
  getOption,
  type Message,
} from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import { optionReader } from './option-reader.js'

/**
 * The options of the Go framework, by their numbers: `.proto` files that were written for it keep their rules
 * and their secrets. Extensions of other owners may have the same numbers.
 */
const GO_OPTIONS = {
  'google.protobuf.MethodOptions': new Map([[50001, 'infoblox.authz.v1.rule']]),
  'google.protobuf.FieldOptions': new Map([
    [50002, 'infoblox.authz.v1.field'],
    [50003, 'infoblox.field.v1.opts'],
  ]),
} as const satisfies Readonly<Record<string, ReadonlyMap<number, string>>>

/** Numbers of options of the Go framework, and of builds of Ashlar before 0.1. */
const NUMBERS: ReadonlySet<number> = new Set([50001, 50002, 50003])

/** The numbers of the fields that mark a secret, and a credential. */
const SECRET_NUMBERS: ReadonlySet<number> = new Set([1, 10])

type Described = DescMethod | DescField

/** The Go framework's rule of a method. */
export interface GoRule {
  readonly verb: string
  readonly resource: string
  readonly public: boolean
}

/** The rule of the Go framework in the options of a method; undefined if it has none. */
export const goRule = optionReader((method: DescMethod): GoRule | undefined => {
  const [rule] = goOptions(method)
  if (rule === undefined) return undefined
  const { verb, resource, public: isPublic } = rule.value as Message & Readonly<Record<string, unknown>>
  return { verb: textOf(verb), resource: textOf(resource), public: isPublic === true }
})

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** True if an option of the Go framework marks the field as a secret or a credential. */
export const isGoSecret = optionReader((field: DescField): boolean =>
  goOptions(field).some(({ message, value }) => {
    const set = reflect(message, value)
    return set.fields.some(
      (one) => SECRET_NUMBERS.has(one.number) && set.isSet(one) && set.get(one) !== false,
    )
  }),
)

/**
 * The options that only code of an earlier version has: neither the file of the method or field nor any file
 * that it imports declares them.
 */
export function undeclaredIn({
  methods,
}: DescService): readonly { readonly described: Described; readonly number: number }[] {
  const messages = new Set<DescMessage>()
  const add = (message: DescMessage): void => {
    if (messages.has(message)) return
    messages.add(message)
    for (const { message: inner } of message.fields) if (inner !== undefined) add(inner)
  }
  for (const { input, output } of methods) [input, output].forEach(add)
  return [...methods, ...[...messages].flatMap(({ fields }) => fields)].flatMap((described) => {
    const number = numbersIn(described).find((one) => extensionOf(described, one) === undefined)
    return number === undefined ? [] : [{ described, number }]
  })
}

/** The options of the Go framework that a method or a field has. */
const goOptions = (described: Described): readonly { message: DescMessage; value: Message }[] =>
  numbersIn(described).flatMap((number) => {
    const extension = extensionOf(described, number)
    if (extension?.fieldKind !== 'message') return []
    if (GO_OPTIONS[extendeeOf(described)].get(number) !== extension.typeName) return []
    return [{ message: extension.message, value: getOption(described, extension) as Message }]
  })

/** The numbers in question that the options of a method or a field have. */
const numbersIn = ({ proto }: Described): readonly number[] => [
  ...new Set((proto.options?.$unknown ?? []).map(({ no }) => no).filter((no) => NUMBERS.has(no))),
]

/** The extension of this number that the file of the method or field knows. */
const extensionOf = (described: Described, number: number): DescExtension | undefined => {
  const extendee = extendeeOf(described)
  const { file } = described.parent
  let known = extensions.get(file)
  if (known === undefined) extensions.set(file, (known = extensionsOf(file)))
  return known.get(`${extendee} ${number}`)
}

const extensions = new WeakMap<DescFile, ReadonlyMap<string, DescExtension>>()

/** The extensions that a file may use, by extendee and number: its own, and those that its imports show. */
const extensionsOf = (file: DescFile): ReadonlyMap<string, DescExtension> => {
  const found = new Map<string, DescExtension>()
  const nested = (message: DescMessage): readonly DescExtension[] => [
    ...message.nestedExtensions,
    ...message.nestedMessages.flatMap(nested),
  ]
  for (const one of new Set([file, ...file.dependencies.flatMap(shownBy)]))
    for (const extension of [...one.extensions, ...one.messages.flatMap(nested)])
      if (NUMBERS.has(extension.number))
        found.set(`${extension.extendee.typeName} ${extension.number}`, extension)
  return found
}

/** The files that a file exports: itself, and its public imports. */
const shownBy = (file: DescFile): readonly DescFile[] => {
  const names = new Set(file.proto.publicDependency.map((index) => file.proto.dependency[index]))
  return [file, ...file.dependencies.filter(({ proto }) => names.has(proto.name)).flatMap(shownBy)]
}

const extendeeOf = ({ kind }: Described): keyof typeof GO_OPTIONS =>
  kind === 'rpc' ? 'google.protobuf.MethodOptions' : 'google.protobuf.FieldOptions'
