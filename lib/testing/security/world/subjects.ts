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
  /** Returns the first standard method of a kind. */
  of<K extends Kind>(kind: K): Standard<K> | undefined
  /** The key field of the resource. */
  readonly key: DescField
  /** The pattern of the resource's names. Undefined if the key is the name. */
  readonly name: NamePattern | undefined
  /** The pattern of keys, such as `notes/*`, or `*` for any key. */
  readonly keyPattern: string
  /** True if the database generates the keys, so that callers cannot choose them. */
  readonly isIdentity: boolean
  /** Generates strings for the key, or for the last part of the name. */
  readonly newText: NewText
  /** The entity class. */
  readonly entity: object | undefined
  /**
   * Fields that contain the key of another resource, with its entity. A part of the name has no separate
   * value.
   */
  readonly references: readonly {
    readonly field: DescField
    readonly target: object
    readonly isInName: boolean
  }[]
  /** Fields that locate the resource, such as `parent`. */
  readonly scope: ReadonlyMap<string, Scope>
  /**
   * The name of the parent that the check creates for all resources, unless the database generates its key.
   */
  readonly sharedParent: string | undefined
  /** False if all tenants share the resource. */
  readonly isTenants: boolean
  /** Fields whose value must never be returned. */
  readonly secrets: readonly DescField[]
  /** Fields that return a token once, when it is created. */
  readonly credentials: readonly DescField[]
}

/** A field that locates a resource. */
export interface Scope {
  /** The value as a string, unless the database generates the parent's key. */
  readonly text: string
  /** True if it contains the parent's name. */
  readonly isParent: boolean
}

/**
 * Returns the resources of a server that have at least one standard method.
 * @param isLeftOut - returns true for the path of a method that must not be called.
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

/** Returns true if the field can contain the key. A name is a string even if its parts are not. */
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

/** google.protobuf.FieldDescriptorProto.Type.TYPE_STRING. */
const TYPE_STRING = 9
