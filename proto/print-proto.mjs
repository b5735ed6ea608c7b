// Prints the .proto file of a descriptor, including options. Descriptors contain no comments.
import { getExtension, ScalarType } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import * as wkt from '@bufbuild/protobuf/wkt'

const { FieldDescriptorProto_Type: Type, FieldDescriptorProto_Label: Label } = wkt
const LAST_FIELD = 536870911

/**
 * @param file - a DescFile, without groups
 * @param registry - knows the extensions that the file's options use
 */
export function printProto({ proto }, registry) {
  const options = optionPrinter(registry)
  const edition = wkt.Edition[proto.edition]?.replace('EDITION_', '')
  const printer = new Printer(options, proto.syntax)
  const imports = proto.dependency.map(
    (path, i) => `import ${proto.publicDependency.includes(i) ? 'public ' : ''}"${path}";`,
  )
  return [
    proto.syntax === 'editions' ? `edition = "${edition}";` : `syntax = "${proto.syntax || 'proto2'}";`,
    `package ${proto.package};`,
    ...imports,
    ...statements(options(wkt.FileOptionsSchema, proto.options)),
    ...proto.enumType.flatMap((one) => printer.enum(one)),
    ...proto.messageType.flatMap((one) => printer.message(one)),
    ...printer.extensions(proto.extension),
    ...proto.service.flatMap((one) => printer.service(one)),
    '',
  ].join('\n')
}

class Printer {
  constructor(options, syntax) {
    this.options = options
    this.syntax = syntax
  }

  enum({ name, value, options, reservedRange, reservedName }) {
    const values = value.map(
      (one) => `${one.name} = ${one.number}${list(this.options(wkt.EnumValueOptionsSchema, one.options))};`,
    )
    const reserved = reservedRange.map(({ start, end }) => range(start, end, 0x7fffffff))
    return block(`enum ${name}`, [
      ...statements(this.options(wkt.EnumOptionsSchema, options)),
      ...this.reserved(reserved, reservedName),
      ...values,
    ])
  }

  message(message) {
    const { name, field, nestedType, enumType, extension, extensionRange, reservedRange, reservedName } =
      message
    const entries = new Map(
      nestedType.filter(({ options }) => options?.mapEntry).map((entry) => [entry.name, entry]),
    )
    const ranges = extensionRange.map(
      ({ start, end, options }) =>
        `extensions ${range(start, end - 1, LAST_FIELD)}${list(this.options(wkt.ExtensionRangeOptionsSchema, options))};`,
    )
    const reserved = reservedRange.map(({ start, end }) => range(start, end - 1, LAST_FIELD))
    return block(`message ${name}`, [
      ...statements(this.options(wkt.MessageOptionsSchema, message.options)),
      ...this.reserved(reserved, reservedName),
      ...enumType.flatMap((one) => this.enum(one)),
      ...nestedType.filter((one) => !entries.has(one.name)).flatMap((one) => this.message(one)),
      ...field.flatMap((one) => this.member(one, message, entries)),
      ...ranges,
      ...this.extensions(extension),
    ])
  }

  /**
   * Prints a message field. The first field of a oneof prints the whole oneof, and its other fields print
   * nothing.
   */
  member(field, { name, field: all, oneofDecl }, entries) {
    const entry = field.type === Type.MESSAGE ? entries.get(field.typeName.split('.').pop()) : undefined
    if (entry !== undefined && field.typeName.endsWith(`.${name}.${entry.name}`)) {
      const [key, value] = entry.field.map(typeOf)
      return [this.field(field, `map<${key}, ${value}>`)]
    }
    if (!Object.hasOwn(field, 'oneofIndex') || field.proto3Optional)
      return [this.field(field, `${this.label(field)}${typeOf(field)}`)]
    const members = all.filter((one) => isSet(one, 'oneofIndex') && one.oneofIndex === field.oneofIndex)
    if (members[0] !== field) return []
    const oneof = oneofDecl[field.oneofIndex]
    return block(`oneof ${oneof.name}`, [
      ...statements(this.options(wkt.OneofOptionsSchema, oneof.options)),
      ...members.map((one) => this.field(one, typeOf(one))),
    ])
  }

  label({ label, proto3Optional }) {
    if (label === Label.REPEATED) return 'repeated '
    if (label === Label.REQUIRED) return 'required '
    return proto3Optional || this.syntax === 'proto2' || this.syntax === '' ? 'optional ' : ''
  }

  field(field, type) {
    const options = this.options(wkt.FieldOptionsSchema, field.options)
    if (isSet(field, 'defaultValue')) {
      const isText = field.type === Type.STRING || field.type === Type.BYTES
      options.unshift(['default', isText ? quoted(field.defaultValue) : field.defaultValue])
    }
    if (isSet(field, 'jsonName') && field.jsonName !== jsonNameOf(field.name))
      options.unshift(['json_name', quoted(field.jsonName)])
    return `${type} ${field.name} = ${field.number}${list(options)};`
  }

  extensions(extensions) {
    return [...new Set(extensions.map(({ extendee }) => extendee))].flatMap((extendee) =>
      block(
        `extend ${extendee}`,
        extensions
          .filter((one) => one.extendee === extendee)
          .map((one) => this.field(one, `${this.label(one)}${typeOf(one)}`)),
      ),
    )
  }

  service({ name, method, options }) {
    return block(`service ${name}`, [
      ...statements(this.options(wkt.ServiceOptionsSchema, options)),
      ...method.flatMap((one) =>
        block(
          `rpc ${one.name}(${stream(one.clientStreaming)}${one.inputType}) returns (${stream(one.serverStreaming)}${one.outputType})`,
          statements(this.options(wkt.MethodOptionsSchema, one.options)),
        ),
      ),
    ])
  }

  reserved(ranges, names) {
    const written = this.syntax === 'editions' ? names : names.map(quoted)
    return [ranges, written].filter(({ length }) => length > 0).map((one) => `reserved ${one.join(', ')};`)
  }
}

/** Returns options as pairs of name and value. A repeated option has several pairs. */
const optionPrinter = (registry) => (schema, message) => {
  if (message === undefined) return []
  const reflected = reflect(schema, message)
  const own = reflected.fields
    .filter(
      (field) =>
        reflected.isSet(field) && field.name !== 'uninterpreted_option' && field.name !== 'map_entry',
    )
    .flatMap((field) =>
      field.name === 'features'
        ? membersOf(reflected.get(field)).map(([name, value]) => [`features.${name}`, value])
        : valuesOf(field, reflected.get(field)).map((value) => [field.name, value]),
    )
  const numbers = [...new Set((message.$unknown ?? []).map(({ no }) => no))]
  const custom = numbers.flatMap((no) => {
    const extension = registry.getExtensionFor(schema, no)
    if (extension === undefined) throw new Error(`${schema.typeName}: nothing declares the option ${no}`)
    return valuesOf(extension, reflectedValue(extension, getExtension(message, extension))).map((value) => [
      `(${extension.typeName})`,
      value,
    ])
  })
  return [...own, ...custom]
}

const reflectedValue = (field, value) => {
  if (field.fieldKind === 'message') return reflect(field.message, value)
  return field.fieldKind === 'list' && field.message ? value.map((one) => reflect(field.message, one)) : value
}

/** Returns a value in the text format, or each value of a list. */
function valuesOf(field, value) {
  if (field.fieldKind === 'map') throw new Error(`${field.name}: maps in options are not printed`)
  if (field.fieldKind === 'list') return [...value].map((one) => single(field, one))
  return [single(field, value)]
}

function single(field, value) {
  if (field.message)
    return `{ ${membersOf(value)
      .map(([name, text]) => `${name}: ${text}`)
      .join(', ')} }`
  if (field.enum) return field.enum.value[value]?.name ?? String(value)
  if (field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES) return quoted(value)
  return value === Infinity ? 'inf' : value === -Infinity ? '-inf' : String(value).toLowerCase()
}

function membersOf(reflected) {
  if (reflected.getUnknown()?.length > 0)
    throw new Error(`${reflected.desc.typeName}: fields that nothing declares are not printed`)
  return reflected.fields
    .filter((field) => reflected.isSet(field))
    .flatMap((field) => valuesOf(field, reflected.get(field)).map((value) => [field.name, value]))
}

const isSet = (message, name) => Object.hasOwn(message, name)
const stream = (is) => (is ? 'stream ' : '')
const typeOf = ({ type, typeName }) => {
  if (type === Type.GROUP) throw new Error(`${typeName}: groups are not printed`)
  return typeName || Type[type].toLowerCase()
}
const range = (start, end, last) => (start === end ? `${start}` : `${start} to ${end >= last ? 'max' : end}`)
const list = (options) =>
  options.length === 0 ? '' : ` [${options.map(([name, value]) => `${name} = ${value}`).join(', ')}]`
const statements = (options) => options.map(([name, value]) => `option ${name} = ${value};`)
const block = (head, lines) =>
  lines.length === 0 ? [`${head} {}`] : [`${head} {`, ...lines.map((line) => `  ${line}`), '}']
const jsonNameOf = (name) => name.replaceAll(/_+([^_]?)/g, (_, letter) => letter.toUpperCase())
/**
 * Quotes a value. Printable ASCII is unchanged, and every other byte is written in octal. Strings are UTF-8.
 */
const quoted = (value) =>
  `"${[...Buffer.from(value)]
    .map((byte) => {
      if (byte < 0x20 || byte > 0x7e) return `\\${byte.toString(8).padStart(3, '0')}`
      const char = String.fromCharCode(byte)
      return char === '"' || char === '\\' ? `\\${char}` : char
    })
    .join('')}"`
