import { create, type Message } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { BookService, LibraryService } from '../../examples/library/gen/library_pb.js'
import { messageReader } from '../../lib/gateway/json/reader.js'
import { parseJson } from '../../lib/gateway/json/parse.js'
import { messageWriter } from '../../lib/gateway/json/writer.js'
import { registryOf } from '../../lib/gateway/json/type-registry.js'
import { openApi } from '../../lib/server/openapi/open-api.js'
import { AllTypesSchema, TypesService } from '../support/gen/jsontypes_pb.js'
import { ParcelService } from '../support/gen/parcels_pb.js'
import { EchoService, SpecimenService } from '../support/gen/specimens_pb.js'
import { TicketService } from '../support/gen/tickets_pb.js'
import { expectGolden } from '../support/golden.js'
import { Described } from '../support/openapi/described.js'
import { findings } from '../support/openapi/findings.js'
import { type Fields, servicesOf } from '../support/openapi/protos.js'

const INFO = {
  license: { name: 'MIT', identifier: 'MIT' },
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
}

describe('the OpenAPI document', () => {
  for (const service of [
    BookService,
    LibraryService,
    TypesService,
    ParcelService,
    TicketService,
    SpecimenService,
    EchoService,
  ])
    it(`of ${service.typeName} has nothing that the validator finds`, async () => {
      expect(await findings(await openApi([service], INFO))).to.deep.equal([])
    })

  it('is the same bytes for the same services, in whatever order', async () => {
    const text = await openApi([ParcelService, TicketService], INFO)
    expect(await openApi([TicketService, ParcelService, TicketService], INFO)).to.equal(text)
    expect(text.endsWith('}\n')).to.equal(true)
  })

  it('of resources with rules of every kind is as reviewed', async () => {
    expectGolden('openapi/parcels.txt', await openApi([ParcelService], INFO))
    expectGolden('openapi/tickets.txt', await openApi([TicketService], INFO))
  })

  describe('of every type of JSON', () => {
    let described: Described
    const schema = `/components/schemas/${AllTypesSchema.typeName}`
    before(async () => (described = new Described(await openApi([TypesService], INFO))))

    const written = (json: string): unknown => {
      const registry = registryOf(TypesService.methods)
      const message = messageReader(AllTypesSchema)(parseJson(json), { registry }) as Message
      return JSON.parse(messageWriter(AllTypesSchema)(message, { registry }))
    }

    it('says what an empty message is', () => {
      expect(
        described.check(schema, JSON.parse(messageWriter(AllTypesSchema)(create(AllTypesSchema), {}))),
      ).to.deep.equal([])
    })

    for (const json of [
      '{"optionalInt64": "-9223372036854775808", "optionalUint64": 18446744073709551615}',
      '{"optionalUint32": 4294967295, "optionalFloat": "NaN", "optionalDouble": "-Infinity", "repeatedDouble": [1e300, "Infinity"]}',
      '{"optionalBytes": "-_8", "mapStringBytes": {"a": "AA=="}, "optionalBytesWrapper": ""}',
      '{"optionalTimestamp": "1969-12-31T23:59:59.123456789+01:00", "optionalDuration": "-0.000000001s"}',
      '{"optionalFieldMask": "fieldA,fieldB.c", "optionalStruct": {"a": [1, null, {"b": true}]}, "optionalValue": null}',
      '{"repeatedValue": [null, 1, "x", [], {}], "repeatedListValue": [[1], []], "repeatedStruct": [{}]}',
      '{"optionalAny": {"@type": "type.googleapis.com/google.protobuf.Duration", "value": "1s"}, "repeatedAny": [{}]}',
      '{"optionalNestedEnum": "NEG", "optionalAliasedEnum": "bAz", "repeatedNestedEnum": ["FOO"], "optionalNullValue": null}',
      '{"oneofNullValue": null}',
      '{"oneofUint64": "1"}',
      '{"mapBoolBool": {"true": false}, "mapInt64Int64": {"-1": "2"}, "mapStringNestedMessage": {"": {"a": 1}}}',
      '{"recursive": {"recursive": {"optionalNestedMessage": {"corecursive": {}}}}}',
      '{"optionalInt64Wrapper": 0, "optionalBoolWrapper": false, "repeatedUint64Wrapper": ["0"], "textInt64": "1"}',
    ])
      it(`says what the gateway writes of ${json}`, () => {
        expect(described.check(schema, written(json))).to.deep.equal([])
      })

    for (const [name, value] of [
      ['optionalInt64', 1],
      ['optionalInt64', '1.0'],
      ['optionalUint64', '-1'],
      ['optionalDouble', 'nan'],
      ['optionalNestedEnum', 'moo'],
      ['optionalDuration', '1'],
      ['optionalTimestamp', 'today'],
      ['noSuchField', 1],
    ] as const)
      it(`refuses ${JSON.stringify(value)} in ${name}`, () => {
        const whole = written('{}') as object
        expect(described.check(schema, { ...whole, [name]: value })).to.not.deep.equal([])
      })
  })

  it('has a parameter for each part of a resource name', async () => {
    const { operations } = new Described(await openApi([BookService, LibraryService], INFO))
    expect([...new Set(operations.map(({ path }) => path))]).to.deep.equal([
      '/v1/shelves',
      '/v1/shelves/{shelf}',
      '/v1/shelves/{shelf}/books',
      '/v1/shelves/{shelf}/books/{book}',
      '/v1/shelves/{shelf}/books/{book}:move',
      '/v1/shelves/{shelf}/books:batchGet',
      '/v1/shelves/{shelf}:merge',
    ])
    const updated = operations.find(({ operationId }) => operationId.endsWith('.UpdateBook'))
    expect(updated).to.deep.include({ variables: ['shelf', 'book'], requiredQuery: ['update_mask'] })
  })

  const message = { Item: { id: 'string' }, Request: { name: 'string' } }

  it('calls two messages of one short name by their packages, and two services, too', async () => {
    const file = (name: string) =>
      ({
        ...{ package: name, messages: message, service: 'Items' },
        methods: {
          GetItem: {
            input: 'Request',
            output: 'Item',
            http: { pattern: { case: 'get', value: `/${name}/{name}` } },
          },
        },
      }) as const
    const text = await openApi(servicesOf(file('one.v1'), file('two.v1')), INFO)
    const { document, operations } = new Described(text)
    expect(Object.keys((document['components'] as { schemas: object }).schemas)).to.include.members([
      'one.v1.Item',
      'two.v1.Item',
    ])
    expect(operations.map(({ operationId }) => operationId)).to.deep.equal([
      'one.v1.Items.GetItem',
      'two.v1.Items.GetItem',
    ])
    expect(await findings(text)).to.deep.equal([])
  })

  it('ends where messages hold one another without end, in the query as well', async () => {
    const services = servicesOf({
      package: 'rings.v1',
      messages: {
        Ring: Object.fromEntries(['left', 'right', 'up', 'down'].map((name) => [name, '.rings.v1.Ring'])),
        Request: {
          ...Object.fromEntries(
            Array.from({ length: 12 }, (_, index) => [`part${index}`, `.rings.v1.Part${index}`]),
          ),
          ring: '.rings.v1.Ring',
        },
        // Each of twelve messages holds all the others: without a bound 12! paths.
        ...Object.fromEntries(
          Array.from({ length: 12 }, (_, index) => [
            `Part${index}`,
            {
              text: 'string',
              ...Object.fromEntries(
                Array.from({ length: 12 }, (_, other) => [`to${other}`, `.rings.v1.Part${other}`]),
              ),
            },
          ]),
        ),
      },
      service: 'Rings',
      methods: {
        GetRing: { input: 'Request', output: 'Ring', http: { pattern: { case: 'get', value: '/rings' } } },
      },
    })
    const text = await openApi(services, INFO)
    const { parameters } = new Described(text).at('/paths/~1rings/get') as { parameters: readonly object[] }
    expect(parameters).to.have.length(202)
    expect(await findings(text)).to.deep.equal([])
  })

  it('lets no comment begin a tag of HTML', async () => {
    const services = servicesOf({
      ...{ package: 'marked.v1', messages: message, service: 'Marked' },
      methods: {
        GetItem: { input: 'Request', output: 'Item', http: { pattern: { case: 'get', value: '/marked' } } },
      },
      comment: ' Holds </script><script>alert(1)</script> and a <b>word</b>, if 1 < 2.\n',
    })
    const text = await openApi(services, INFO)
    expect(text).to.not.include('<')
    const [tag] = (JSON.parse(text) as { tags: readonly { description: string }[] }).tags
    expect(tag?.description).to.equal(
      'Holds &lt;/script>&lt;script>alert(1)&lt;/script> and a &lt;b>word&lt;/b>, if 1 < 2.',
    )
  })

  it('tells fields apart that are named like the parameters of the framework', async () => {
    const services = servicesOf({
      package: 'odd.v1',
      messages: {
        Item: {
          id: 'string',
          etag: 'int32',
          update_mask: 'bool',
          filter: '.google.protobuf.Struct',
          page_size: 'string',
        },
        Request: {
          id: 'string',
          etag: 'int32',
          update_mask: 'bool',
          filter: '.google.protobuf.Struct',
          q: 'repeated int64',
          read_mask: 'string',
        },
      },
      service: 'Odd',
      methods: {
        FindItem: {
          input: 'Request',
          output: 'Item',
          http: { pattern: { case: 'get', value: '/odd/{id}' } },
        },
      },
    })
    const text = await openApi(services, INFO)
    const { parameters } = new Described(text).at('/paths/~1odd~1{id}/get') as {
      parameters: readonly { name?: string; schema: object }[]
    }
    expect(parameters.map(({ name }) => name)).to.deep.equal([
      'id',
      'etag',
      'update_mask',
      'q',
      'read_mask',
      undefined,
      undefined,
    ])
    expect(await findings(text)).to.deep.equal([])
  })

  it('lists every rule of a method, each with an id of its own, and streams in words', async () => {
    const services = servicesOf({
      package: 'many.v1',
      messages: message,
      service: 'Many',
      methods: {
        GetItem: {
          input: 'Request',
          output: 'Item',
          http: {
            pattern: { case: 'get', value: '/v1/{name=shelves/*/books/*}' },
            additionalBindings: [
              { pattern: { case: 'post', value: '/v1/{name=shelves/**}:find' }, body: '*' },
              { pattern: { case: 'custom', value: { kind: '*', path: '/v1/any' } } },
              { pattern: { case: 'custom', value: { kind: 'PURGE', path: '/v1/any' } } },
              { pattern: { case: 'get', value: '/v1/*/all' } },
            ],
          },
        },
        WatchItems: {
          input: 'Request',
          output: 'Item',
          streams: true,
          http: { pattern: { case: 'get', value: '/v1/items:watch' } },
        },
      },
    })
    const text = await openApi(services, INFO)
    const described = new Described(text)
    expect(
      described.operations.map(
        ({ method, path, operationId }) => `${method} ${path} ${operationId.slice(13)}`,
      ),
    ).to.deep.equal([
      'GET /v1/any GetItem_2_get',
      'PUT /v1/any GetItem_2_put',
      'POST /v1/any GetItem_2_post',
      'DELETE /v1/any GetItem_2_delete',
      'PATCH /v1/any GetItem_2_patch',
      'GET /v1/items:watch WatchItems',
      'GET /v1/shelves/{shelf}/books/{book} GetItem',
      'POST /v1/shelves/{shelf}:find GetItem_1',
      'GET /v1/{segment2}/all GetItem_4',
    ])
    expect(Object.keys(described.at('/paths/~1v1~1any/x-additional-operations'))).to.deep.equal(['PURGE'])
    const { content } = described.at('/paths/~1v1~1items:watch/get/responses/200') as { content: object }
    expect(Object.keys(content)).to.deep.equal(['application/x-ndjson', 'text/event-stream'])
    expect(await findings(text)).to.deep.equal([])
  })

  it('of 500 methods is made in one go', async () => {
    const names = Array.from({ length: 500 }, (_, index) => `Thing${index}`)
    const services = servicesOf({
      package: 'large.v1',
      messages: Object.fromEntries<Fields>(
        names.flatMap((name): [string, Fields][] => [
          [
            name,
            { id: 'string', text: 'string', at: '.google.protobuf.Timestamp', other: `.large.v1.${name}` },
          ],
          [`Get${name}Request`, { id: 'string', read: 'string' }],
        ]),
      ),
      service: 'Large',
      methods: Object.fromEntries(
        names.map((name) => [
          `Get${name}`,
          {
            input: `Get${name}Request`,
            output: name,
            http: { pattern: { case: 'get', value: `/v1/${name}/{id}` } },
          } as const,
        ]),
      ),
    })
    expect(new Described(await openApi(services, INFO)).operations).to.have.length(500)
  })
})
