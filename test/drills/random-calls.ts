import { type DescField, type DescMessage, type DescMethod, ScalarType } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import { EchoService, NoteService, SpecimenService } from '../support/gen/specimens_pb.js'

/** One call that both listeners can carry. */
export interface RandomCall {
  readonly method: DescMethod
  /** Which of the method's spellings in HTTP, counted around. */
  readonly binding: number
  /** Whether JSON is written with the names of the .proto. */
  readonly protoNames: boolean
  /** As `create` takes it, but for texts that begin with `$`: what the listener itself answered before. */
  readonly request: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string | readonly string[]>>
}

const services = [SpecimenService, SpecimenService, WidgetService, NoteService, EchoService]

/** Every method that has an HTTP form. */
const methods: readonly DescMethod[] = services.flatMap(({ methods: all }) =>
  all.filter(({ methodKind }) => methodKind === 'unary' || methodKind === 'server_streaming'),
)

const text = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom('', 'a', 'A', 'b ', ' lead', 'ä', '😀', 'x&y=z', '100%', 'quo"te'),
  },
  { weight: 1, arbitrary: fc.constantFrom('\u0000', 'x'.repeat(120)) },
)
const id = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'c', 'd') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('A', 'ä', 'x y', 'a/b', 'a:b', '%41', '😀', '..', 'theirs', 'a+b', '~'),
  },
)
const etag = fc.oneof(
  { weight: 5, arbitrary: fc.constant('') },
  { weight: 3, arbitrary: fc.constantFrom('$etag', '$older') },
  { weight: 1, arbitrary: fc.constantFrom('invented', '"quoted"', '*', 'W/"weak"', '"a", "b"', 'half"') },
)
const path = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      'title',
      'note',
      'count',
      'tags',
      'display_name',
      'size',
      'text',
      'stars',
      'code',
      'origin',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '*',
      'id',
      'etag',
      'account_id',
      'delete_time',
      'nope',
      'tags.env',
      'origin.quarry',
      'labels.x',
      'api_key',
      'webhook_secret',
    ),
  },
)
const paths = fc.array(path, { maxLength: 3 })
/** The gateway reads a mask of texts before the chain, and refuses what is wrong in every spelling there. */
const widgetPaths = fc.array(
  fc.constantFrom('display_name', 'size', 'tags.env', 'etag', 'id', 'account_id', '*'),
  {
    maxLength: 3,
  },
)

/** Fields whose name says more than their type. */
const BY_NAME: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  id,
  widget_id: id,
  specimen_id: id,
  ids: fc.array(id, { maxLength: 4 }),
  name: id.map((one) => (one.includes('/') ? one : `notes/${one}`)),
  etag,
  update_mask: paths,
  page_size: fc.constantFrom(-1, 0, 1, 2, 1001),
  page_token: fc.constantFrom('', '', '$page', '$page', 'MA==', 'Mg==', 'zzz'),
  filter: fc.constantFrom(
    ...['', '', 'count > 1', 'title = "a" OR code = "x"', 'nope = 1', 'title = ', '(((', 'tags.env = "x"'],
    ...[
      'phase = CUT',
      'size >= 0',
      'count = "one"',
      'title = "unended',
      'create_time > "2026-01-01T00:00:00Z"',
    ],
  ),
  order_by: fc.constantFrom(
    '',
    '',
    'title',
    'title desc, count',
    'size desc',
    'nope',
    'title,,',
    'title title',
    'api_key',
  ),
  q: fc.constantFrom('', 'stone', 'x'.repeat(1025)),
  request_id: fc.constantFrom('', '', '', 'once', 'twice', 'bell\u0007', 'x'.repeat(256)),
  code: fc.constantFrom('', 'x', 'y', 'z'),
  webhook_secret: fc.constantFrom('', 'hush'),
  upto: fc.integer({ min: -1, max: 4 }),
  pause_ms: fc.constant(0),
  text: fc.oneof(
    { weight: 3, arbitrary: text },
    { weight: 1, arbitrary: fc.constantFrom('rooms/1/books/2/3', 'rooms/ä/books/x y', 'rooms/1/books/100%') },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'fail NOT_FOUND',
        'fail ABORTED',
        'fail UNAVAILABLE',
        'fail DATA_LOSS',
        'fail OUT_OF_RANGE',
        'fail UNKNOWN',
        'boom',
      ),
    },
  ),
}

/** Without these a call is refused before anything is asked of it. */
const MOSTLY_THERE = new Set([
  'id',
  'ids',
  'name',
  'specimen',
  'widget',
  'note',
  'requests',
  'updateMask',
  'page_token',
  'text',
])

const WELL_KNOWN: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  'google.protobuf.Timestamp': fc.record({
    seconds: fc.constantFrom(0n, -1n, 1_900_000_000n, -62_135_596_800n, 253_402_300_799n),
    nanos: fc.constantFrom(0, 1_000_000, 1, 999_999_999),
  }),
  'google.protobuf.Duration': fc.constantFrom(
    { seconds: 0n, nanos: 0 },
    { seconds: 1n, nanos: 500_000_000 },
    { seconds: -1n, nanos: -1 },
    { seconds: 315_576_000_000n, nanos: 0 },
  ),
  'google.protobuf.FieldMask': paths.map((all) => ({ paths: all })),
}

const SCALARS: Readonly<Partial<Record<ScalarType, fc.Arbitrary<unknown>>>> = {
  [ScalarType.STRING]: text,
  [ScalarType.BOOL]: fc.boolean(),
  [ScalarType.INT32]: fc.constantFrom(0, 1, -1, 7, 2 ** 31 - 1, -(2 ** 31)),
  [ScalarType.UINT32]: fc.constantFrom(0, 1, 2 ** 32 - 1),
  [ScalarType.INT64]: fc.constantFrom(0n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)),
  [ScalarType.UINT64]: fc.constantFrom(0n, 2n ** 53n + 1n, 2n ** 64n - 1n),
  [ScalarType.FLOAT]: fc.constantFrom(0, -0, Math.fround(0.1), Math.fround(3e38), 0.5, 0.25, 1, 2, 3, NaN),
  [ScalarType.DOUBLE]: fc.constantFrom(0, -0, 0.1, 5e-324, 1.7e308, 1, 2, 3, 4, -Infinity),
  [ScalarType.BYTES]: fc.constantFrom(
    new Uint8Array(),
    new Uint8Array([0, 255, 62, 63]),
    new Uint8Array([251]),
  ),
}

/** Random messages of a type, as `create` takes them. */
function messageOf(desc: DescMessage, depth: number): fc.Arbitrary<Record<string, unknown>> {
  const known = WELL_KNOWN[desc.typeName]
  if (known !== undefined) return known as fc.Arbitrary<Record<string, unknown>>
  const fields: Record<string, fc.Arbitrary<unknown>> = {}
  for (const field of desc.fields)
    if (field.oneof === undefined && !(field.message !== undefined && depth > 3))
      fields[field.localName] = fieldOf(field, depth)
  for (const { localName, fields: members } of desc.oneofs.filter(
    ({ fields: [first] }) => first?.oneof !== undefined,
  ))
    fields[localName] = fc.oneof(
      ...members.map((field) => fieldOf(field, depth).map((value) => ({ case: field.localName, value }))),
    )
  const requiredKeys = Object.keys(fields).filter((name) => depth === 0 && MOSTLY_THERE.has(name))
  return fc.record(fields, { requiredKeys, noNullPrototype: true }) as fc.Arbitrary<Record<string, unknown>>
}

function fieldOf(field: DescField, depth: number): fc.Arbitrary<unknown> {
  const named = BY_NAME[field.name]
  const isMask = field.message?.typeName === 'google.protobuf.FieldMask'
  if (
    field.parent.typeName === 'widgets.v1.UpdateWidgetRequest' &&
    field.name === 'update_mask' &&
    depth === 0
  )
    return widgetPaths
  if (named !== undefined && !isMask) return named
  switch (field.fieldKind) {
    case 'scalar':
      return SCALARS[field.scalar] ?? fc.constant(undefined)
    case 'enum':
      return fc.constantFrom(0, 1, 2, 3, 9)
    case 'message':
      return messageOf(field.message, depth + 1)
    case 'list':
      return fc.array<unknown>(field.listKind === 'message' ? messageOf(field.message, depth + 1) : text, {
        maxLength: 3,
      })
    case 'map':
      return fc.dictionary(fc.constantFrom('env', 'tier', 'a.b', ' ', 'é'), text, {
        maxKeys: 2,
        noNullPrototype: true,
      })
  }
}

const ALICE = { authorization: 'Bearer alice', 'account-id': 'acme', subject: 'alice', groups: 'makers' }

const identity: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(ALICE) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Record<string, string>>(
      {},
      { 'account-id': 'globex', subject: 'bob', groups: 'makers' },
      { 'account-id': 'acme', subject: 'carol', groups: 'readers, weighers' },
      { subject: 'dave', groups: 'makers' },
      { 'account-id': '', subject: '', groups: '' },
      { authorization: 'Bearer alice', 'account-id': 'globex', groups: 'makers' },
      { authorization: 'Bearer nobody-knows' },
      { authorization: 'Basic YWxpY2U6eA==' },
    ),
  },
)

const more: fc.Arbitrary<Record<string, string | readonly string[]>> = fc.record(
  {
    groups: fc.constantFrom(['readers', 'makers'], ['readers,', 'weighers']),
    'if-match': fc.constantFrom(
      ...['"$etag"', '$etag', '"$older"', '*', '"$older", "$etag"', 'W/"$etag"', 'half"'],
    ),
    'x-request-id': fc.constantFrom('seen-before', 'two words', 'x'.repeat(129)),
    'idempotency-key': fc.constantFrom('once', 'twice', 'x'.repeat(256)),
  },
  { requiredKeys: [], noNullPrototype: true },
)

const headers = fc
  .tuple(identity, fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 2, arbitrary: more }))
  .map(([who, rest]) => ({ ...who, ...rest }))

/** Any call of any method. */
export const randomCall: fc.Arbitrary<RandomCall> = fc.oneof(
  ...methods.map((method) =>
    fc.record({
      method: fc.constant(method),
      binding: fc.nat(3),
      protoNames: fc.boolean(),
      request: messageOf(method.input, 0),
      headers,
    }),
  ),
)
