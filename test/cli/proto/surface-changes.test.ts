import { createRegistry, fromJson, type JsonObject, type JsonValue } from '@bufbuild/protobuf'
import { type FileDescriptorSet, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { http } from 'ashlar-annotations/google/api/annotations_pb.js'
import { field_behavior } from 'ashlar-annotations/google/api/field_behavior_pb.js'
import { resource } from 'ashlar-annotations/google/api/resource_pb.js'
import { expect } from 'chai'
import { ruleOf, type SurfaceChange, textOf } from '../../../cli/proto/surface-change.js'
import { surfaceChanges } from '../../../cli/proto/surface-changes.js'

/** A service `shop.v1.Shop` with one method, `Paint`, whose request is `{ id, shop, widget, note }`. */
interface Api {
  /** The option `google.api.http` of the method. */
  readonly http?: JsonObject
  readonly services?: JsonObject[]
  readonly methods?: JsonObject[]
  readonly type?: string
  readonly patterns?: readonly string[]
  /** The behaviours of `Widget.colour`, which requests and responses have. */
  readonly colour?: readonly string[]
  /** Those of a number without presence. */
  readonly size?: readonly string[]
  /** Those of `PaintRequest.widget`. */
  readonly widget?: readonly string[]
  /** Those of `Receipt.code`, which responses alone have. */
  readonly code?: readonly string[]
  /** Fields of `Widget` that only this version has. */
  readonly more?: JsonObject[]
}

const extensions = createRegistry(http, field_behavior, resource)

const field = (
  number: number,
  name: string,
  type: string,
  behaviors: readonly string[] = [],
): JsonObject => ({
  name,
  number,
  label: 'LABEL_OPTIONAL',
  ...(type.startsWith('.') ? { type: 'TYPE_MESSAGE', typeName: type } : { type }),
  ...(behaviors.length === 0 ? {} : { options: { '[google.api.field_behavior]': [...behaviors] } }),
})

const method = (name: string, rule?: JsonObject): JsonObject => ({
  name,
  inputType: '.shop.v1.PaintRequest',
  outputType: '.shop.v1.Receipt',
  ...(rule === undefined ? {} : { options: { '[google.api.http]': rule } }),
})

const TYPE = 'shop.example.com/Widget'

function described({
  type = TYPE,
  patterns = ['shops/{shop}/widgets/{widget}'],
  ...api
}: Api): FileDescriptorSet {
  const own = { name: 'Shop', method: [method('Paint', api.http), ...(api.methods ?? [])] }
  const named = { '[google.api.resource]': { type, pattern: [...patterns] } }
  const file: JsonValue = {
    name: 'shop.proto',
    package: 'shop.v1',
    syntax: 'proto3',
    service: api.services ?? [own],
    messageType: [
      {
        name: 'PaintRequest',
        field: [
          field(1, 'id', 'TYPE_STRING'),
          field(2, 'shop', 'TYPE_STRING'),
          field(3, 'widget', '.shop.v1.Widget', api.widget),
          field(4, 'note', 'TYPE_STRING'),
        ],
      },
      {
        name: 'Widget',
        field: [
          field(1, 'colour', 'TYPE_STRING', api.colour),
          field(2, 'size', 'TYPE_INT32', api.size),
          field(3, 'part', '.shop.v1.Widget'),
          ...(api.more ?? []),
        ],
        ...(type === '' ? {} : { options: named }),
      },
      {
        name: 'Receipt',
        field: [field(1, 'widget', '.shop.v1.Widget'), field(2, 'code', 'TYPE_STRING', api.code)],
      },
      { name: 'Empty' },
    ],
  }
  return fromJson(FileDescriptorSetSchema, { file: [file] }, { registry: extensions })
}

const changed = (earlier: Api, now: Api): readonly SurfaceChange[] =>
  surfaceChanges(described(now), described(earlier))

const post = (path: string, more: JsonObject = {}): Api => ({ http: { post: path, body: '*', ...more } })
const get = (path: string, more: JsonObject = {}): Api => ({ http: { get: path, ...more } })
const custom = (kind: string, path: string): Api => ({ http: { custom: { kind, path } } })
const PAINT = '/v1/widgets/{id}:paint'

type Row = readonly [what: string, earlier: Api, now: Api]

const BREAKING: readonly (readonly [kind: SurfaceChange['kind'], rows: readonly Row[]])[] = [
  [
    'http-route-removed',
    [
      ['a route that is gone', post(PAINT), {}],
      ['another literal', post(PAINT), post('/v1/things/{id}:paint')],
      ['another verb of the path', post(PAINT), post('/v1/widgets/{id}:colour')],
      ['no verb of the path', post(PAINT), post('/v1/widgets/{id}')],
      ['another method of HTTP', post(PAINT), { http: { put: PAINT, body: '*' } }],
      ['another custom method', custom('REPORT', '/v1/x'), custom('SEARCH', '/v1/x')],
      ['a method where every one was answered', custom('*', '/v1/x'), get('/v1/x')],
      ['a literal in the place of a variable', get('/v1/{shop}/x'), get('/v1/shops/x')],
      ['a pattern with a literal', get('/v1/{shop=*}'), get('/v1/{shop=shops/*}')],
      ['one segment in the place of all', get('/v1/{shop=**}'), get('/v1/{shop=*}')],
      ['a longer path', get('/v1/{shop}'), get('/v1/{shop}/{id}')],
      ['a shorter path', get('/v1/{shop}/{id}'), get('/v1/{shop}')],
      ['variables that change places', get('/v1/{shop}/{id}'), get('/v1/{id}/{shop}')],
      ['a value that is a part of it', get('/v1/{id=shops/*}'), get('/v1/shops/{id}')],
      ['a value that nothing gets', get('/v1/{id}/x'), get('/v1/*/x')],
      [
        'an additional binding that is gone',
        get('/v1/{id}', { additionalBindings: [{ get: '/v2/{id}' }] }),
        get('/v1/{id}'),
      ],
      ['another path that is no template', get('/v1/{name=**}/x'), get('/v1/{name=**}/y')],
    ],
  ],
  [
    'http-body-changed',
    [
      ['none', post(PAINT), { http: { post: PAINT } }],
      ['the whole request in the place of none', { http: { post: PAINT } }, post(PAINT)],
      ['a field in the place of the request', post(PAINT), post(PAINT, { body: 'widget' })],
      ['the request in the place of a field', post(PAINT, { body: 'widget' }), post(PAINT)],
      [
        'another body of a path that is another binding now',
        post(PAINT),
        get('/v1/{id}', { additionalBindings: [{ post: PAINT, body: 'widget' }] }),
      ],
    ],
  ],
  [
    'http-response-body-changed',
    [
      ['a field in the place of the response', get('/v1/{id}'), get('/v1/{id}', { responseBody: 'widget' })],
      ['the response in the place of a field', get('/v1/{id}', { responseBody: 'widget' }), get('/v1/{id}')],
    ],
  ],
  ['service-removed', [['a service', {}, { services: [] }]]],
  [
    'method-removed',
    [
      ['a method', { methods: [method('Wash')] }, {}],
      ['a method with a route', { methods: [method('Wash', { post: '/v1/{id}:wash' })] }, {}],
    ],
  ],
  [
    'resource-type-changed',
    [
      ['another type', {}, { type: 'shop.example.com/Thing' }],
      ['none', {}, { type: '' }],
    ],
  ],
  [
    'resource-pattern-removed',
    [
      ['another pattern', {}, { patterns: ['shops/{shop}/things/{widget}'] }],
      ['one of two', { patterns: ['a/{b}', 'c/{d}'] }, { patterns: ['a/{b}'] }],
      ['one segment in the place of all', { patterns: ['a/{b=**}'] }, { patterns: ['a/{b}'] }],
    ],
  ],
  [
    'field-newly-required',
    [
      ['a field', {}, { colour: ['REQUIRED'] }],
      ['one that the server set', { colour: ['OUTPUT_ONLY'] }, { colour: ['REQUIRED'] }],
      [
        'one that the server set and required',
        { colour: ['OUTPUT_ONLY', 'REQUIRED'] },
        { colour: ['REQUIRED'] },
      ],
      ['a message', {}, { widget: ['REQUIRED'] }],
      ['a new field', {}, { more: [field(4, 'shape', 'TYPE_STRING', ['REQUIRED'])] }],
    ],
  ],
  [
    'field-newly-set-by-server',
    [
      ['an optional field', {}, { colour: ['OUTPUT_ONLY'] }],
      ['a required field', { colour: ['REQUIRED'] }, { colour: ['OUTPUT_ONLY'] }],
      ['a number', {}, { size: ['OUTPUT_ONLY'] }],
      ['a message, once', {}, { widget: ['OUTPUT_ONLY'], size: ['IMMUTABLE'] }],
      ['a name', {}, { colour: ['IDENTIFIER'] }],
    ],
  ],
  ['field-newly-immutable', [['a field', { colour: ['OPTIONAL'] }, { colour: ['IMMUTABLE'] }]]],
  [
    'field-newly-input-only',
    [
      ['a field of both', {}, { colour: ['INPUT_ONLY'] }],
      ['a field of responses', {}, { code: ['INPUT_ONLY'] }],
    ],
  ],
]

const HARMLESS: readonly Row[] = [
  ['nothing', post(PAINT), post(PAINT)],
  ['a route', {}, post(PAINT)],
  ['an additional binding', post(PAINT), post(PAINT, { additionalBindings: [{ get: '/v2/{id}' }] })],
  [
    'an additional binding that comes first',
    post(PAINT),
    get('/v1/{id}', { additionalBindings: [{ post: PAINT, body: '*' }] }),
  ],
  ['another name of a variable', get('/v1/{shop}'), get('/v1/{id}')],
  ['a variable as a pattern', get('/v1/{shop}'), get('/v1/{shop=*}')],
  ['a pattern as variables', get('/v1/{id=shops/*}'), get('/v1/shops/{shop}')],
  ['all segments in the place of one', get('/v1/{shop=*}'), get('/v1/{shop=**}')],
  ['all segments in the place of a pattern', get('/v1/{shop=shops/*}'), get('/v1/{shop=**}')],
  ['a variable in the place of a literal', get('/v1/shops/x'), get('/v1/{shop}/x')],
  ['another spelling of a literal', get('/v1/a%6F'), get('/v1/ao')],
  ['every method of HTTP', get('/v1/x'), custom('*', '/v1/x')],
  ['a method of HTTP as a custom one', get('/v1/x'), custom('GET', '/v1/x')],
  ['a path that is no template', get('/v1/{name=**}/x'), get('/v1/{name=**}/x')],
  ['a service', {}, { services: [{ name: 'Shop', method: [method('Paint')] }, { name: 'Other' }] }],
  ['a method', {}, { methods: [method('Wash')] }],
  ['a pattern', {}, { patterns: ['shops/{shop}/widgets/{widget}', 'widgets/{widget}'] }],
  ['other names of a pattern', {}, { patterns: ['shops/{a}/widgets/{b}'] }],
  ['any name', {}, { patterns: ['*'] }],
  ['a resource', { type: '' }, {}],
  ['a field', {}, { more: [field(4, 'shape', 'TYPE_STRING', ['OUTPUT_ONLY'])] }],
  ['a number that cannot be missing', {}, { size: ['REQUIRED'] }],
  ['no rule any more', { colour: ['OUTPUT_ONLY'], size: ['IMMUTABLE'], code: ['INPUT_ONLY'] }, {}],
  ['no longer required', { colour: ['REQUIRED'] }, { colour: ['OPTIONAL'] }],
  ['set by the server in other words', { colour: ['OUTPUT_ONLY'] }, { colour: ['IDENTIFIER'] }],
  ['immutable instead of set by the server', { colour: ['OUTPUT_ONLY'] }, { colour: ['IMMUTABLE'] }],
  ['rules of what responses alone have', {}, { code: ['REQUIRED', 'OUTPUT_ONLY'] }],
]

describe('surfaceChanges', () => {
  for (const [kind, rows] of BREAKING)
    describe(`finds ${kind} in`, () => {
      for (const [what, earlier, now] of rows)
        it(what, () => {
          expect(changed(earlier, now).map((one) => one.kind)).to.deep.equal([kind])
        })
    })

  describe('finds nothing in', () => {
    for (const [what, earlier, now] of HARMLESS)
      it(what, () => {
        expect(changed(earlier, now)).to.deep.equal([])
      })
  })

  it('takes a body where requests had nothing beside the path', () => {
    const rule = (body: string) => ({
      services: [
        {
          name: 'Shop',
          method: [{ ...method('Paint', { post: '/v1/x:go', body }), inputType: '.shop.v1.Empty' }],
        },
      ],
    })
    expect(changed(rule(''), rule('*'))).to.deep.equal([])
  })

  it('gives what was and what is', () => {
    const at = { file: 'shop.proto', line: 1 }
    const [route] = changed(post(PAINT), get('/v1/{id}', { responseBody: 'widget' }))
    expect(route).to.deep.equal({
      ...at,
      kind: 'http-route-removed',
      service: 'shop.v1.Shop',
      method: 'Paint',
      route: { verb: 'POST', path: PAINT, body: '*', responseBody: '' },
      now: [{ verb: 'GET', path: '/v1/{id}', body: '', responseBody: 'widget' }],
    })
    expect(changed({}, { colour: ['OUTPUT_ONLY'] })).to.deep.equal([
      {
        ...at,
        kind: 'field-newly-set-by-server',
        behavior: 'OUTPUT_ONLY',
        message: 'Widget',
        field: 'colour',
        number: 1,
      },
    ])
  })
})

describe('textOf', () => {
  const AT = { file: 'shop.proto', line: 1 }
  const OF = { ...AT, service: 'shop.v1.Shop', method: 'Paint' }
  const ROUTE = { verb: 'POST', path: PAINT, body: '*', responseBody: '' }
  const FIELD = { ...AT, message: 'Widget', field: 'colour', number: 1 }
  const CUSTOM = { verb: 'REPORT', path: '/v1/x', body: '', responseBody: 'widget' }
  const TEXTS: readonly (readonly [change: SurfaceChange, text: string])[] = [
    [
      { ...AT, kind: 'service-removed', service: 'shop.v1.Shop' },
      'Service "shop.v1.Shop" was removed: all calls of its clients fail. Keep it, with the option deprecated, until no client calls it.',
    ],
    [
      { ...OF, kind: 'method-removed' },
      'Method "Paint" of service "shop.v1.Shop" was removed: calls of it fail. Keep it, with the option deprecated, until no client calls it.',
    ],
    [
      { ...OF, kind: 'http-route-removed', route: ROUTE, now: [{ ...ROUTE, verb: 'PUT' }] },
      'Method "Paint" of service "shop.v1.Shop" no longer serves POST /v1/widgets/{id}:paint, and answers PUT /v1/widgets/{id}:paint: requests of clients that send it fail. Keep it beside the others: additional_bindings { post: "/v1/widgets/{id}:paint" body: "*" }.',
    ],
    [
      { ...OF, kind: 'http-route-removed', route: CUSTOM, now: [] },
      'Method "Paint" of service "shop.v1.Shop" no longer serves REPORT /v1/x: requests of clients that send it fail. Keep it: option (google.api.http) = { custom { kind: "REPORT" path: "/v1/x" } response_body: "widget" }.',
    ],
    [
      { ...OF, kind: 'http-body-changed', route: ROUTE, now: { ...ROUTE, body: '' } },
      'Method "Paint" of service "shop.v1.Shop" now takes nothing as the body of POST /v1/widgets/{id}:paint; it took the whole request before. Requests of existing clients are rejected or misread. Keep the body, and give the new form its own path in additional_bindings.',
    ],
    [
      { ...OF, kind: 'http-response-body-changed', route: CUSTOM, now: { ...CUSTOM, responseBody: '' } },
      'Method "Paint" of service "shop.v1.Shop" now answers REPORT /v1/x with the whole response; it answered with the field "widget" before. Existing clients misread it. Keep the response_body, and give the new form its own path in additional_bindings.',
    ],
    [
      { ...AT, kind: 'resource-type-changed', message: 'Widget', was: TYPE, now: 'shop.example.com/Thing' },
      'Message "Widget" now has the resource type "shop.example.com/Thing"; it had "shop.example.com/Widget" before. References and access rules name the old type. Keep the type.',
    ],
    [
      { ...AT, kind: 'resource-pattern-removed', type: TYPE, pattern: 'widgets/{widget}' },
      'Resource "shop.example.com/Widget" no longer has the pattern "widgets/{widget}": names that clients stored are not found. Keep the pattern, and add the new one after it.',
    ],
    [
      { ...FIELD, kind: 'field-newly-required', isNew: true },
      'Field "1" with name "colour" on message "Widget" is new and REQUIRED: requests of clients that do not send it are rejected. Add REQUIRED in a later release, when every client sends it.',
    ],
    [
      { ...FIELD, kind: 'field-newly-set-by-server', behavior: 'OUTPUT_ONLY' },
      'Field "1" with name "colour" on message "Widget" is now OUTPUT_ONLY: values that clients send in it are dropped. Leave it unchanged, and give the server\'s value its own field.',
    ],
    [
      { ...FIELD, kind: 'field-newly-immutable' },
      'Field "1" with name "colour" on message "Widget" is now IMMUTABLE: updates that change it are rejected. Add IMMUTABLE in a later release, when no client changes it.',
    ],
    [
      { ...FIELD, kind: 'field-newly-input-only' },
      'Field "1" with name "colour" on message "Widget" is now INPUT_ONLY: clients no longer receive it. Add INPUT_ONLY in a later release, when no client reads it.',
    ],
  ]
  for (const [change, text] of TEXTS)
    it(`says what ${ruleOf(change)} means and what to do`, () => {
      expect(textOf(change)).to.equal(text)
    })
})
