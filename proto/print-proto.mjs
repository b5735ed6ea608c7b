// Prints the .proto of a descriptor without its options: enough for other files to import it.
const LABELS = { 1: 'optional', 2: 'required', 3: 'repeated' }
const TYPES = [
  ...['', 'double', 'float', 'int64', 'uint64', 'int32', 'fixed64', 'fixed32', 'bool', 'string', 'group'],
  ...['message', 'bytes', 'uint32', 'enum', 'sfixed32', 'sfixed64', 'sint32', 'sint64'],
]

/** A file of proto2, or of an edition whose fields have presence as proto2 has, without nested types and services. */
export const printProto = ({ package: name, dependency, messageType, enumType, extension }) =>
  [
    'syntax = "proto2";',
    `package ${name};`,
    ...dependency.map((path) => `import "${path}";`),
    ...enumType.map(printEnum),
    ...messageType.map(printMessage),
    ...extension.map((field) => `extend ${field.extendee} {\n${printField(field)}\n}`),
  ].join('\n') + '\n'

const printEnum = ({ name, value }) =>
  `enum ${name} {\n${value.map((one) => `  ${one.name} = ${one.number};`).join('\n')}\n}`

const printMessage = ({ name, field, oneofDecl, extensionRange }) =>
  [
    `message ${name} {`,
    ...field.filter((one) => !isMember(one)).map((one) => printField(one)),
    ...oneofDecl.map((oneof, index) => {
      const members = field.filter((one) => isMember(one) && one.oneofIndex === index)
      return `  oneof ${oneof.name} {\n${members.map((one) => printField(one, '')).join('\n')}\n  }`
    }),
    ...extensionRange.map(
      ({ start, end }) => `  extensions ${start} to ${end > 536870911 ? 'max' : end - 1};`,
    ),
    '}',
  ].join('\n')

const isMember = (field) => Object.hasOwn(field, 'oneofIndex')

const printField = ({ name, number, label, type, typeName }, prefix = `${LABELS[label]} `) =>
  `  ${prefix}${typeName || TYPES[type]} ${name} = ${number};`
