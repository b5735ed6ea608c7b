import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { permissionCatalog, type Server } from '../../server/index.js'
import type { ServedMethod } from '../../server/served-methods.js'
import type { Findings } from './world/report.js'
import { isMarkedSecret, type Subject } from './world/subjects.js'

export interface DeclarationOptions {
  readonly publicMethods: readonly string[]
  readonly plainFields: readonly string[]
}

/** Services that are public by design. */
const OPEN_SERVICES = /^\/grpc\.(health|reflection)\./

/**
 * Checks declarations without calling the server: rules, templates, public methods, and fields that look like
 * unmarked secrets.
 */
export const checkDeclarations = (
  server: Server,
  methods: readonly ServedMethod[],
  subjects: readonly Subject[],
  findings: Findings,
  { publicMethods, plainFields }: DeclarationOptions,
): void => {
  const catalog = permissionCatalog(server).map((permission) => ({
    ...permission,
    path: `/${permission.service}/${permission.method}`,
  }))
  for (const { path, declared } of catalog)
    if (!declared) findings.add('rule', path, 'the method has neither a rule nor a public exemption')
  for (const { path, public: isPublic } of catalog) {
    if (!isPublic || publicMethods.includes(path) || OPEN_SERVICES.test(path)) continue
    findings.add('public', path, 'anyone may call the method: add it to publicMethods if that is intended')
  }
  const served = new Set(catalog.map(({ path }) => path))
  for (const { method } of server.rules())
    if (!served.has(method)) findings.add('stray rule', method, 'the rule is for a method that is not served')
  for (const { method, verb = '', resource = '', public: isPublic } of server.rules())
    if (isPublic !== true && verb !== '' && resource === '')
      findings.add('rule', method, `the rule has the verb "${verb}" and no resource: name the resource`)
  for (const method of methods) checkTemplate(method, findings)
  for (const method of methods) checkSecrets(method, subjects, findings, plainFields)
}

const checkTemplate = ({ desc, path, rule }: ServedMethod, findings: Findings): void => {
  for (const [, field = ''] of (rule?.resource ?? '').matchAll(/\{([^{}]*)\}/g))
    if (!isPlainField(desc.input, field.split('.')))
      findings.add('template', path, `{${field}} is not a single value of ${desc.input.typeName}`)
}

const isPlainField = (message: DescMessage, [name, ...deeper]: readonly string[]): boolean => {
  const field = message.fields.find((one) => one.name === name)
  if (field === undefined || field.oneof !== undefined) return false
  if (deeper.length === 0) return field.fieldKind === 'scalar'
  return field.fieldKind === 'message' && isPlainField(field.message, deeper)
}

const LOOKS_SECRET =
  /(^|_)(secrets?|passwords?|passphrase|private_key|api_key|access_key|credentials?|tokens?)$/
const NO_SECRET = /^(next_)?page_token$|^(public|sort|partition)_/

const checkSecrets = (
  { desc, path }: ServedMethod,
  subjects: readonly Subject[],
  findings: Findings,
  plainFields: readonly string[],
): void => {
  if (/^\/(grpc|google)\./.test(path)) return
  const known = new Set(subjects.flatMap(({ secrets, credentials }) => [...secrets, ...credentials]))
  for (const field of fieldsWithin([desc.input, desc.output])) {
    const name = `${field.parent.typeName}.${field.name}`
    const isText = field.message === undefined && field.enum === undefined && isTextual(field)
    if (!isText || !LOOKS_SECRET.test(field.name) || NO_SECRET.test(field.name)) continue
    if (known.has(field) || isMarkedSecret(field) || plainFields.includes(name)) continue
    findings.add(
      'unmarked secret',
      path,
      `${name} looks like a secret: mark it with (ashlar.api.v1.field).secret, or declare it as plain`,
    )
  }
}

/** Returns true for the types TYPE_STRING and TYPE_BYTES of google.protobuf.FieldDescriptorProto. */
const isTextual = ({ proto }: DescField): boolean => [9, 12].includes(proto.type)

const fieldsWithin = (messages: readonly DescMessage[]): readonly DescField[] => {
  const seen = new Set<DescMessage>()
  const walk = (message: DescMessage): readonly DescField[] => {
    if (seen.has(message) || message.typeName.startsWith('google.')) return []
    seen.add(message)
    return message.fields.flatMap((field) => [field, ...(field.message ? walk(field.message) : [])])
  }
  return messages.flatMap(walk)
}
