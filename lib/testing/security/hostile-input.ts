import { clone, create, type DescField, type Message, ScalarType } from '@bufbuild/protobuf'
import { requestFor } from './world/requests.js'
import { maskableFields, writableFields } from './world/samples.js'
import type { Kind, Subject } from './world/subjects.js'
import { draft, type Row, type World } from './world/world.js'

const TEXTS = ['a\0b', `'"\`\\;--%`, 'x'.repeat(70_000), '\u0001\u202e', '../..', ' ', '\u{1F9F1}']
const MASKS = [['no_such_field'], ['account_id'], ['etag', 'no.such.path'], ['*', 'x'], [''], ["x'y"], []]
const FILTERS = [
  ...['no_such_field = 1', 'no_such_field', '= =', '((((', '"', 'NOT', 'a\0b = 1', `'; --`, '-'],
  ...['('.repeat(200), 'x'.repeat(5000), 'id = 99999999999999999999', 'id < true AND id:*'],
]
const TOKENS = ['x', '!!!', 'LTE=', Buffer.from('99999999999999999999').toString('base64'), 'e30=', 'a\0b']

/** Numbers that are not valid keys. Some of them cannot be stored in a column or a request field. */
const NUMBERS = [
  '0',
  '-1',
  '1e1',
  '2147483648',
  '9223372036854775807',
  '-9223372036854775808',
  '9'.repeat(20),
]

/**
 * Sends input that a database would reject, as a caller with all permissions. Error messages must be suitable
 * for callers. The probe checks every response as it arrives.
 */
export const checkHostileInput = async (world: World, subject: Subject, row: Row): Promise<void> => {
  const { probe, a } = world
  const call = async (kind: Kind, asking: Parameters<typeof requestFor>[3]) => {
    const method = subject.of(kind)
    if (method === undefined) return
    await probe.sendAll(method.desc, requestFor(a, subject, method, asking), a, { shows: kind === 'create' })
  }
  const entity = draft(world, subject, a)
  const mask = maskableFields(subject).map(({ name }) => name)

  await call('create', { key: row.key, entity: draft(world, subject, a) })
  await call('create', { entity })
  await call('create', { entity })
  await call('create', { entity: create(subject.message) })
  await call('update', { key: row.key, entity: create(subject.message), mask: ['*'] })
  for (const spoilt of spoiltOf(world, subject)) {
    await call('create', { entity: spoilt.message })
    await call('update', { key: row.key, entity: spoilt.message, mask: [spoilt.name] })
    await call('batchUpdate', { keys: [row.key], entity: spoilt.message, mask: [spoilt.name] })
  }
  for (const key of ['', ...TEXTS, ...(isNumber(subject) ? NUMBERS : [])]) {
    for (const kind of ['get', 'delete', 'undelete'] as const) await call(kind, { key })
    for (const kind of ['batchGet', 'batchDelete'] as const) await call(kind, { keys: [key, key] })
    await call('update', { key, entity, mask: mask.slice(0, 1) })
    await call('create', { key, entity: draft(world, subject, a) })
  }
  for (const paths of MASKS) {
    await call('update', { key: row.key, entity, mask: paths })
    await call('batchUpdate', { keys: [row.key], entity, mask: paths })
    await call('get', { key: row.key, fields: { read_mask: paths } })
    await call('list', { fields: { read_mask: paths } })
  }
  for (const filter of [...FILTERS, ...typedFilters(subject)]) await call('list', { fields: { filter } })
  for (const order_by of ['no_such_field', 'id sideways', ',', 'id,id', `id;--`, 'a\0b'])
    await call('list', { fields: { order_by } })
  for (const page_token of TOKENS) await call('list', { fields: { page_token } })
  for (const page_size of [-1, 2_147_483_647]) await call('list', { fields: { page_size } })
  for (const q of TEXTS) await call('list', { fields: { q } })
  const etag = 'stale'
  const stale = create(subject.message, { ...entity, etag })
  await call('update', { key: row.key, entity: stale, mask: mask.slice(0, 1) })
  await call('delete', { key: row.key, fields: { etag } })
  await call('batchGet', { keys: Array.from({ length: 1001 }, (_, n) => `k${n}`) })
}

/** Returns true if a key is stored as a number, whatever its type in the message. */
const isNumber = ({ repository, key }: Subject): boolean => {
  if (key.scalar !== ScalarType.STRING) return true
  const { keys } = repository?.model ?? {}
  return keys?.isKey('2') === true && !keys.isKey('02')
}

/** Returns filters that compare each field of the message with a value of another type. */
const typedFilters = ({ message }: Subject): readonly string[] =>
  message.fields.flatMap(({ name }) => [`${name} = "x"`, `${name} > 1`, `${name} = null`, `${name}.x = 1`])

interface Spoilt {
  readonly name: string
  readonly message: Message
}

/** Returns resources that each have one field that no column can store. */
const spoiltOf = (world: World, subject: Subject): readonly Spoilt[] => {
  const good = draft(world, subject, world.a)
  return writableFields(subject)
    .filter((field) => field.fieldKind !== 'list' && field.fieldKind !== 'map' && field.oneof === undefined)
    .flatMap((field) =>
      badValues(field).map((value) => {
        const message = clone(subject.message, good)
        Object.assign(message, { [field.localName]: value })
        return { name: field.name, message }
      }),
    )
}

const badValues = (field: DescField): readonly unknown[] => {
  if (field.enum !== undefined) return [9999, -1]
  const { message } = field
  if (message?.typeName === 'google.protobuf.Timestamp')
    return [-62_135_596_800n, 253_402_300_799n].map((seconds) => create(message, { seconds }))
  switch (field.scalar) {
    case ScalarType.STRING:
      return TEXTS
    case ScalarType.BYTES:
      return [Buffer.alloc(70_000), Buffer.from([0, 255])]
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return [NaN, Infinity]
    case ScalarType.INT32:
    case ScalarType.SINT32:
      return [2_147_483_647, -2_147_483_648]
    case ScalarType.UINT32:
      return [4_294_967_295]
    case ScalarType.INT64:
      return [9_223_372_036_854_775_807n]
    case ScalarType.UINT64:
      return [18_446_744_073_709_551_615n]
    default:
      return []
  }
}
