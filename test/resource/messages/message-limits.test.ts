import {
  create,
  createRegistry,
  type DescField,
  type DescMessage,
  type JsonValue,
  toBinary,
  toJsonString,
} from '@bufbuild/protobuf'
import {
  type Any,
  anyPack,
  AnySchema,
  ListValueSchema,
  StructSchema,
  ValueSchema,
} from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import {
  ElementCount,
  type MessageLimits,
  NO_LIMITS,
  uncountedBytes,
} from '../../../lib/resource/messages/message-limits.js'
import { AshlarError } from '../../../lib/errors.js'
import { invalidAt } from '../../../lib/gateway/json/fault.js'
import { parseJson } from '../../../lib/gateway/json/parse.js'
import { messageReader } from '../../../lib/gateway/json/reader.js'
import { readRequest } from '../../../lib/resource/wire/read-request.js'
import { ParcelSchema } from '../../support/gen/parcels_pb.js'
import { EchoRequestSchema } from '../../support/gen/specimens_pb.js'

type Read = (desc: DescMessage, init: object, limits: MessageLimits) => void

const READERS: Readonly<Record<string, Read>> = {
  binary: (desc, init, limits) => {
    readRequest(desc, toBinary(desc, create(desc, init as never)), limits)
  },
  JSON: (desc, init, limits) => {
    const json = parseJson(toJsonString(desc, create(desc, init as never)))
    try {
      messageReader(desc)(json, { elements: new ElementCount(limits) })
    } catch (error) {
      throw invalidAt('', error)
    }
  },
}

/** A request of so many nested messages. */
const nested = (depth: number): object => (depth === 0 ? {} : { inner: nested(depth - 1) })
const list = (size: number, value: JsonValue) => ({
  values: Array.from({ length: size }, () => ({ kind: { case: 'stringValue', value } })),
})

/** A map entry holds so many values, and only the last of them counts in the message that is made. */
const entryOf = (values: number): Uint8Array => {
  const entry = Buffer.from(`0a00${'1200'.repeat(values)}`, 'hex')
  const [length, tag] = [entry.length, (7 << 3) | 2]
  return Buffer.concat([Buffer.from([tag, (length & 127) | 128, length >> 7]), entry])
}

const outcomeOf = (read: () => void): string => {
  try {
    read()
    return 'read'
  } catch (error) {
    if (!(error instanceof AshlarError)) throw error
    return `${error.code} ${error.message}`
  }
}

describe('ElementCount', () => {
  it('counts each value of a map entry that has several', () => {
    const limits = { ...NO_LIMITS, maxElements: 100, uncountedBytes: uncountedBytes(100) }
    const read = (values: number) => outcomeOf(() => readRequest(ParcelSchema, entryOf(values), limits))
    expect(read(100)).to.equal('read')
    expect(read(101)).to.match(/^RESOURCE_EXHAUSTED .*limits\.maxElements/)
  })

  for (const [format, read] of Object.entries(READERS))
    describe(`of ${format}`, () => {
      const elements = (desc: DescMessage, init: object): number => {
        for (let most = 1; most < 50; most++) {
          const limits = {
            maxElements: most,
            maxResponseBytes: 0,
            uncountedBytes: uncountedBytes(most),
            mostIn: () => undefined,
          }
          if (outcomeOf(() => read(desc, init, limits)) === 'read') return most
        }
        return 50
      }

      const CASES: readonly (readonly [name: string, desc: DescMessage, init: object, count: number])[] = [
        ['strings in a list', EchoRequestSchema, { words: ['', 'a', 'b'] }, 3],
        ['entries of a map', EchoRequestSchema, { labels: { a: '', b: '' } }, 2],
        ['nested messages', EchoRequestSchema, { nested: nested(9) }, 10],
        ['values of a ListValue', ListValueSchema, list(7, 'x'), 7],
        [
          'fields of a Struct, with what they hold',
          StructSchema,
          {
            fields: {
              a: { kind: { case: 'boolValue', value: true } },
              b: { kind: { case: 'listValue', value: list(3, 'x') } },
            },
          },
          6,
        ],
        [
          'no string or number of the message itself',
          EchoRequestSchema,
          { text: 'a', number: 1n, flag: true },
          1,
        ],
      ]
      for (const [name, desc, init, count] of CASES)
        it(`counts ${name}`, () => {
          // Bytes before the rest: short requests are read without counting.
          const padded = desc === EchoRequestSchema ? { data: new Uint8Array(200), ...init } : init
          expect(elements(desc, padded)).to.equal(count)
        })

      it('rejects a list of more entries than its field allows, with its path', () => {
        const limits: MessageLimits = {
          maxElements: 10_000,
          maxResponseBytes: 0,
          uncountedBytes: uncountedBytes(10_000),
          mostIn: ({ name }: DescField) =>
            name === 'words' ? { count: 1_500, text: 'must contain no more than 1500 item(s)' } : undefined,
        }
        const words = (size: number) => ({ words: Array.from({ length: size }, () => 'a'.repeat(20)) })
        expect(outcomeOf(() => read(EchoRequestSchema, words(1_500), limits))).to.equal('read')
        expect(outcomeOf(() => read(EchoRequestSchema, words(1_501), limits))).to.equal(
          'INVALID_ARGUMENT words: must contain no more than 1500 item(s)',
        )
      })
    })
})

describe('elements of a google.protobuf.Any in binary', () => {
  const values = (size: number) =>
    anyPack(ListValueSchema, {
      $typeName: ListValueSchema.typeName,
      values: Array.from({ length: size }, () => create(ValueSchema)),
    })
  const limits = { ...NO_LIMITS, maxElements: 10, uncountedBytes: 0, types: createRegistry(ListValueSchema) }
  const outcome = (any: Any) =>
    outcomeOf(() => readRequest(AnySchema, toBinary(AnySchema, any), limits)).split(' ')[0]

  it('count if its type is known', () => {
    expect(outcome(values(10))).to.equal('read')
    expect(outcome(values(11))).to.equal('RESOURCE_EXHAUSTED')
    expect(outcome({ ...values(11), typeUrl: 'type.example.com/unknown.v1.Type' })).to.equal('read')
  })

  it('count inside of another Any, of which only so many are read', () => {
    const nested = (levels: number, any: Any): Any =>
      levels === 0 ? any : nested(levels - 1, anyPack(AnySchema, any))
    const types = createRegistry(ListValueSchema, AnySchema)
    const read = (any: Any) =>
      outcomeOf(() => readRequest(AnySchema, toBinary(AnySchema, any), { ...limits, types })).split(' ')[0]
    expect(read(nested(3, values(10)))).to.equal('read')
    expect(read(nested(3, values(11)))).to.equal('RESOURCE_EXHAUSTED')
    expect(read(nested(101, values(1)))).to.equal('INVALID_ARGUMENT')
  })

  it('leave one that cannot be read as it is', () => {
    expect(outcome({ ...values(1), value: Uint8Array.of(10, 200) })).to.equal('read')
  })
})
