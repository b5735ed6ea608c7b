import { inspect } from 'node:util'
import { create } from '@bufbuild/protobuf'
import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { InvalidArgument } from '../../../lib/errors.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { AllTypesSchema, TypesService } from '../../support/gen/jsontypes_pb.js'
import { SpecimenService } from '../../support/gen/specimens_pb.js'
import { ALICE, partly, type RunningServer, startServer } from '../../support/servers/server.js'

/** What a handler of plain JavaScript may put into a message. */
let values: Record<string, unknown> = {}
let thrown: Error | undefined

describe('a response whose values do not fit their fields', () => {
  let running: RunningServer
  let client: ForeignClient
  before(async () => {
    running = await startServer((builder) =>
      builder.register(
        TypesService,
        partly(TypesService, {
          send: () => {
            if (thrown !== undefined) throw thrown
            return Object.assign(create(AllTypesSchema), values)
          },
        }),
      ),
    )
    client = new ForeignClient(TypesService, running.grpc)
  })
  after(async () => {
    client.close()
    await running.stop()
  })
  beforeEach(() => {
    values = {}
    thrown = undefined
    running.records.length = 0
  })

  /** The code of each call, and how many failures were logged with their cause. */
  const logged = () => [
    ...running.records.filter(({ message }) => message === 'rpc').map(({ fields }) => fields['code']),
    running.records.filter(({ message }) => message === 'call failed').length,
  ]

  for (const wrong of [
    { optionalInt32: Number.NaN },
    { optionalInt32: 2 ** 31 },
    { optionalInt32: 1.5 },
    { optionalInt32: 'seven' },
    { optionalInt32: null },
    { optionalUint32: -1 },
    { optionalInt64: 2n ** 63n },
    { optionalInt64: 'seven' },
    { optionalUint64: -1n },
    { optionalFloat: 1e39 },
    { optionalBytes: 'text' },
    { optionalNestedEnum: 'FOO' },
    { optionalNestedMessage: { a: 1 } },
    { repeatedInt32: [1, Number.NaN] },
    { mapStringDouble: null },
    { oneofField: { case: 'oneofUint32', value: -1 } },
    { recursive: create(AllTypesSchema, { recursive: { optionalInt32: Number.NaN } }) },
  ])
    it(`is Internal through both listeners: ${inspect(wrong, { depth: 0 })}`, async () => {
      values = wrong
      const { code, details } = await client.unary('Send', {})
      expect([code, details]).to.deep.equal([status.INTERNAL, 'internal error'])
      const answer = await fetch(`${running.http}/v1/types`)
      expect([answer.status, await answer.json()]).to.deep.equal([
        500,
        { code: 13, message: 'internal error', details: [] },
      ])
      expect(logged()).to.deep.equal(['INTERNAL', 'INTERNAL', 2])
    })

  for (const wrong of [
    { optionalDouble: 'seven' },
    { optionalBool: 'false' },
    { optionalString: 7 },
    { optionalStruct: { a: undefined } },
  ])
    it(`is never JSON of another type: ${inspect(wrong)}`, async () => {
      values = wrong
      expect((await fetch(`${running.http}/v1/types`)).status).to.equal(500)
      expect(logged()).to.deep.equal(['INTERNAL', 1])
    })

  it('has U+FFFD for half a surrogate pair, through both listeners', async () => {
    values = {
      optionalString: 'a\ud800b',
      mapStringString: { '\udc00': '\ud83d' },
      repeatedString: ['\udfff'],
    }
    const expected = {
      optionalString: 'a\ufffdb',
      mapStringString: { '\ufffd': '\ufffd' },
      repeatedString: ['\ufffd'],
    }
    const { answer } = await client.unary('Send', {})
    expect({
      optionalString: answer?.['optional_string'],
      mapStringString: entriesOf(answer?.['map_string_string']),
      repeatedString: answer?.['repeated_string'],
    }).to.deep.equal(expected)
    expect(await (await fetch(`${running.http}/v1/types`)).json()).to.deep.include(expected)
  })

  it('is the same error through both listeners where its text has half a surrogate pair', async () => {
    thrown = new InvalidArgument('half\ud800', 'is \udc00 half')
    const { code, details } = await client.unary('Send', {})
    expect([code, details]).to.deep.equal([status.INVALID_ARGUMENT, 'half\ufffd: is \ufffd half'])
    const answer = await fetch(`${running.http}/v1/types`)
    expect([answer.status, ((await answer.json()) as { message: string }).message]).to.deep.equal([
      400,
      details,
    ])
  })
})

describe('an error text that is cut inside of a surrogate pair', () => {
  it('leaves the process alive', async () => {
    const running = await startServer((builder) =>
      builder.register(SpecimenService, partly(SpecimenService, {})),
    )
    const client = new ForeignClient(SpecimenService, running.grpc)
    try {
      // The text repeats 128 characters of the path.
      const paths = [`${'a'.repeat(127)}\u{1f600}`]
      const { code, details } = await client.unary('GetSpecimen', { id: 'a', read_mask: { paths } }, ALICE)
      expect([code, details.includes('a\ufffd"')]).to.deep.equal([status.INVALID_ARGUMENT, true])
    } finally {
      client.close()
      await running.stop()
    }
  })
})

/** A map as proto-loader reads it from our descriptors: a list of entries. */
const entriesOf = (list: unknown): object =>
  Object.fromEntries((list as { key: string; value: string }[]).map(({ key, value }) => [key, value]))
