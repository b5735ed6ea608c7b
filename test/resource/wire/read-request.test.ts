import { NO_LIMITS } from '../../../lib/resource/messages/message-limits.js'
import { create, type DescMessage, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { InvalidArgument } from '../../../lib/errors.js'
import { MAX_UNKNOWN_FIELDS, readRequest } from '../../../lib/resource/wire/read-request.js'
import { drill } from '../../support/drill.js'
import { AllTypesSchema } from '../../support/gen/jsontypes_pb.js'
import { EchoRequestSchema } from '../../support/gen/specimens_pb.js'
import { Random, randomMessage } from './random-messages.js'
import { unusual } from './unusual-schemas.js'

const SEED = Number(process.env.ASHLAR_SEED ?? Date.now() % 2 ** 31)

/** So many of the same bytes. */
const times = (count: number, ...bytes: number[]): Buffer =>
  Buffer.concat(Array(count).fill(Buffer.from(bytes)))
/** A field whose value has a length. */
const sized = (number: number, value: Uint8Array): Buffer => {
  const prefix = [(number << 3) | 2]
  let { length } = value
  for (; length >= 0x80; length >>>= 7) prefix.push((length & 0x7f) | 0x80)
  return Buffer.concat([Buffer.from([...prefix, length]), value])
}
/** A field 15,000, of a type that has a field 15. */
const OF_NO_TYPE = [0xc0, 0xa9, 0x07, 0]
/** In front of others, so that they are many bytes. */
const PADDING = sized(1, Buffer.alloc(30_000, 'x'))

describe('fields of a request that its type does not have', () => {
  const [MOST, MORE] = [MAX_UNKNOWN_FIELDS, MAX_UNKNOWN_FIELDS + 1]
  const outcomeOf = (bytes: Uint8Array): string => {
    try {
      readRequest(EchoRequestSchema, bytes, NO_LIMITS)
      return 'read'
    } catch (error) {
      expect(error).to.be.instanceOf(InvalidArgument)
      return (error as Error).message.includes(String(MOST)) ? 'too many' : 'malformed'
    }
  }

  const ways: Readonly<Record<string, (count: number) => Uint8Array>> = {
    'a number': (count) => times(count, 0x78, 0),
    'of 64 bits': (count) => times(count, 0x79, ...Buffer.alloc(8)),
    'of 32 bits': (count) => times(count, 0x7d, ...Buffer.alloc(4)),
    'a text': (count) => times(count, 0x7a, 0),
    'a group': (count) => times(count, 0x7b, 0x7c),
    'inside of a group': (count) =>
      Buffer.concat([Buffer.from([0x7b]), times(count - 1, 0x78, 0), Buffer.from([0x7c])]),
    'inside of a message': (count) => sized(3, times(count, 0x78, 0)),
    'inside of messages, together': (count) =>
      Buffer.concat([sized(3, times(count - 5, 0x78, 0)), sized(3, sized(3, times(5, 0x78, 0)))]),
    'inside of an entry of a map': (count) => sized(10, times(count, 0x78, 0)),
  }
  for (const [what, of] of Object.entries(ways))
    it(`are at most ${MOST}: ${what}`, () => {
      const read = [MOST, MORE].map((count) => outcomeOf(Buffer.concat([PADDING, of(count)])))
      expect(read).to.deep.equal(['read', 'too many'])
    })

  it('are kept, and the others are read', () => {
    const known = toBinary(
      EchoRequestSchema,
      create(EchoRequestSchema, {
        ...{ text: 'x'.repeat(30_000), number: -1n, words: ['a', ''], score: 0.5, flag: true },
        ...{ nested: { leaf: 'a', inner: { size: -1 } }, labels: { a: 'b', '': '' } },
        ...{ at: { seconds: 1n, nanos: 2 }, data: new Uint8Array(9), choice: { case: 'right', value: 3 } },
      }),
    )
    const bytes = Buffer.concat([known, times(MOST, 0x78, 1)])
    expect(readRequest(EchoRequestSchema, bytes, NO_LIMITS)).to.deep.equal(
      fromBinary(EchoRequestSchema, bytes),
    )
  })

  // Whoever reads it by its encoding finds one text there; by its field, 40,000 fields that are not known.
  for (const [what, hiding] of Object.entries({
    'a number as a text': (hidden: Uint8Array) => sized(2, hidden),
    'a boolean as a text': (hidden: Uint8Array) => sized(13, hidden),
    'a double as a text': (hidden: Uint8Array) => sized(14, hidden),
    'a time as a group': (hidden: Uint8Array) =>
      Buffer.concat([Buffer.from([0x33, 1]), hidden, Buffer.from([0x34])]),
    'the key of a map as a number': (hidden: Uint8Array) =>
      sized(10, Buffer.concat([Buffer.from([0x08, 1]), hidden])),
  }))
    it(`are not hidden in ${what}`, () => {
      expect(outcomeOf(Buffer.concat([PADDING, hiding(times(40_000, 0x78, 0))]))).to.equal('malformed')
    })

  for (const [what, bytes] of Object.entries({
    'ends inside of a field': Buffer.concat([PADDING, Buffer.from([0x7a, 9])]),
    'ends inside of a group': Buffer.concat([PADDING, Buffer.from([0x7b])]),
    'ends another group': Buffer.concat([PADDING, Buffer.from([0x7b, 0x84, 1])]),
    'has a number without end': Buffer.concat([PADDING, Buffer.alloc(20, 0xff)]),
    'is deeper than is read': Buffer.concat([PADDING, times(200, 0x7b), times(200, 0x7c)]),
  }))
    it(`are looked for in vain where it ${what}`, () => {
      expect(outcomeOf(bytes)).to.equal('malformed')
    })

  /** Those of a message that was read, and of all in it. */
  const unknownIn = (value: unknown): number => {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return 0
    const { $unknown: own = [], ...fields } = value as Partial<Message>
    return Object.values(fields).reduce((sum: number, each) => sum + unknownIn(each), own.length)
  }
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return work()
    } catch {
      return undefined
    }
  }

  for (const type of [AllTypesSchema, unusual()] as DescMessage[])
    it(`are found in whatever ${type.name} is read from, and nothing else is refused`, () => {
      const random = new Random(SEED)
      const parts = Array.from({ length: 400 }, () =>
        attempt(() => toBinary(type, randomMessage(type, random))),
      ).filter((part) => part !== undefined)
      const fitting = Buffer.concat([...parts, sized(15, Buffer.alloc(20_000))])
      expect(
        attempt(() => readRequest(type, fitting, NO_LIMITS)),
        `ASHLAR_SEED=${SEED}`,
      ).to.deep.equal(attempt(() => fromBinary(type, fitting)))
      for (let left = drill(60, 5_000); left > 0; left--) {
        const broken = Buffer.from(random.of(parts))
        for (let n = random.below(4); n >= 0; n--) broken[random.below(broken.length)] = random.below(256)
        const bytes = Buffer.concat([broken, times(MORE + random.below(500), ...OF_NO_TYPE)])
        const read = attempt(() => fromBinary(type, bytes))
        if (read !== undefined && unknownIn(read) > MOST)
          expect(
            attempt(() => readRequest(type, bytes, NO_LIMITS)),
            `ASHLAR_SEED=${SEED} ${broken.toString('hex')}`,
          ).to.equal(undefined)
      }
    })
})
