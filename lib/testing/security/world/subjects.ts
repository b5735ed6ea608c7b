import { type DescField, type DescMessage, getOption, hasOption } from '@bufbuild/protobuf'
import { field as fieldOption } from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'
import type { NamePattern, Repository } from '../../../persistence/index.js'
import type { ServedMethod } from '../../../server/served-methods.js'
import { isGoSecret } from '../../../resource/messages/go-options.js'
import { boundPattern } from '../wire/http-request.js'
import { fitsIn, type NewText, newTextThat, parentText } from './made-up-keys.js'
import { heldKey } from './requests.js'

/** A standard method of a resource. */
export type Standard<K extends Kind = Kind> = ServedMethod & {
  readonly standard: NonNullable<ServedMethod['standard']> & { readonly kind: K }
}

export type Kind = NonNullable<ServedMethod['standard']>['kind']

/** A resource with its methods. */
export interface Subject {
  readonly message: DescMessage
  readonly repository: Repository<object> | undefined
  readonly methods: readonly ServedMethod[]
  /** The first standard method of each kind. */
  of<K extends Kind>(kind: K): Standard<K> | undefined
  /** The key field of the resource. */
  readonly key: DescField
  /** The name pattern; undefined if its key is its name. */
  readonly name: NamePattern | undefined
  /** The pattern of keys: `notes/*`, or `*` for anything. */
  readonly keyPattern: string
  /** True if the database generates the keys, so that callers choose none. */
  readonly isIdentity: boolean
  /** Makes texts for the key, or for the last part of the name. */
  readonly newText: NewText
  /** The class of its entities. */
  readonly entity: object | undefined
  /**
   * Fields that hold the key of another resource, with the entity of that. A part of the name has no value of
   * its own.
   */
  readonly references: readonly {
    readonly field: DescField
    readonly target: object
    readonly isInName: boolean
  }[]
  /** Fields that locate the resource, such as `parent`. */
  readonly scope: ReadonlyMap<string, Scope>
  /** The parent that the check makes for all of them, as a name, unless the database makes its key. */
  readonly sharedParent: string | undefined
  /** False where every tenant shares the resource. */
  readonly isTenants: boolean
  /** Fields whose value must never be returned. */
  readonly secrets: readonly DescField[]
  /** Fields that show a token once, when it is minted. */
  readonly credentials: readonly DescField[]
}

/** A field that locates a resource. */
export interface Scope {
  /** Its value as a string, unless the database generates the parent's key. */
  readonly text: string
  /** True if it is the name of the parent. */
  readonly isParent: boolean
}

/**
 * The resources of a server with at least one standard method.
 * @param isLeftOut - for methods that are not called, by path.
 */
export const subjectsOf = (
  methods: readonly ServedMethod[],
  isLeftOut: (path: string) => boolean,
): readonly Subject[] => {
  const byService = new Map<string, ServedMethod[]>()
  for (const method of methods) {
    if (method.resource === undefined) continue
    const place = `${method.desc.parent.typeName} ${method.resource.typeName}`
    byService.set(place, [...(byService.get(place) ?? []), method])
  }
  return [...byService.values()]
    .filter((group) => group.some(({ standard }) => standard !== undefined))
    .flatMap((group) => subjectOf(group, isLeftOut) ?? [])
}

const subjectOf = (
  methods: readonly ServedMethod[],
  isLeftOut: (path: string) => boolean,
): Subject | undefined => {
  const message = methods[0]?.resource as DescMessage
  const repository = methods.find((method) => method.repository !== undefined)?.repository
  const model = repository?.model
  const key = model?.name?.field ?? fieldOf(message, 'id') ?? fieldOf(message, 'name')
  if (key === undefined) return undefined
  const marked = message.fields.filter(isMarkedSecret)
  const named = (protos: readonly { readonly proto: string }[] = []) =>
    message.fields.filter(({ name }) => protos.some(({ proto }) => proto === name))
  const credentials = named(model?.credentials)
  const called = methods.filter(({ path }) => !isLeftOut(path))
  const first = <K extends Kind>(kind: K, among: readonly ServedMethod[]) =>
    among.find(({ standard }) => standard?.kind === kind) as Standard<K> | undefined
  const get = first('get', methods)
  return {
    message,
    repository,
    methods: called,
    of: (kind) => first(kind, called),
    key,
    name: model?.name,
    keyPattern: (get && boundPattern(get.desc, get.standard.key.name)) ?? '*',
    entity: model?.entity,
    references: (model?.relations ?? []).flatMap((relation) => {
      const field = 'reference' in relation ? fieldOf(message, relation.reference.proto) : undefined
      if (field === undefined) return []
      const isInName = model?.name?.variables.some((variable) => variable.field.proto === field.name) ?? false
      return [{ field, target: relation.target(), isInName }]
    }),
    isIdentity: model?.key.isIdentity === true,
    newText: newTextThat((text) => fitsIn(model?.key, text) && fitsOnWire(key, text)),
    scope: scopeOf(methods, model),
    sharedParent: model?.name && parentOf(model.name),
    isTenants: model === undefined || model.tenant !== undefined,
    secrets: [...new Set([...named(model?.secrets), ...marked])].filter(
      (field) => !credentials.includes(field),
    ),
    credentials,
  }
}

export const isMarkedSecret = (field: DescField): boolean =>
  field.proto.options?.debugRedact === true ||
  isGoSecret(field) ||
  (hasOption(field, fieldOption) && getOption(field, fieldOption).secret)

const fieldOf = (message: DescMessage, name: string): DescField | undefined =>
  message.fields.find((field) => field.name === name)

/** A name is a text whatever its parts are. */
const fitsOnWire = (key: DescField, text: string): boolean => heldKey(key, text) !== undefined

const parentOf = ({ parent, variables }: NamePattern): string | undefined =>
  parent?.text.replaceAll(/\{([^}]*)\}/g, (_, part: string) =>
    parentText(variables.find(({ name }) => name === part)?.field),
  )

const scopeOf = (
  methods: readonly ServedMethod[],
  model: Repository<object>['model'] | undefined,
): ReadonlyMap<string, Scope> => {
  const scope = new Map<string, Scope>()
  for (const { desc, standard, resource } of methods)
    for (const { name, own } of standard?.scope ?? []) {
      if (own) continue
      const field = (resource && fieldOf(resource, name)) ?? fieldOf(desc.input, name)
      const pattern = boundPattern(desc, name) ?? '*'
      const isText = field?.fieldKind === 'scalar' && field.proto.type === TYPE_STRING
      const text = pattern.replaceAll(/\*+/g, () => parentText(model?.byProto.get(name)))
      const isParent = name === 'parent' && model?.name?.parent !== undefined
      scope.set(name, { text: isText ? text : parentText(model?.byProto.get(name)), isParent })
    }
  return scope
}

/** google.protobuf.FieldDescriptorProto.Type.TYPE_STRING */
const TYPE_STRING = 9
