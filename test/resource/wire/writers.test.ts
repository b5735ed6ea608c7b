import { create, type DescMessage, toBinary } from '@bufbuild/protobuf'
import {
  FieldDescriptorProtoSchema,
  FileDescriptorSetSchema,
  UninterpretedOptionSchema,
} from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { Book } from '../../../examples/library/book.js'
import { Order } from '../../../examples/orders/order.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { ResourceExhausted } from '../../../lib/errors.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { ByteWriter } from '../../../lib/resource/wire/byte-writer.js'
import { messageBytes, messageWriter } from '../../../lib/resource/wire/message-writer.js'
import { drill } from '../../support/drill.js'
import { Deposit } from '../../support/entities/deposit.js'
import { Edition, Policy } from '../../support/entities/edition.js'
import { Parcel } from '../../support/entities/parcel.js'
import { Reckoned } from '../../support/entities/reckoned.js'
import { Note, Specimen } from '../../support/entities/specimen.js'
import { Ticket } from '../../support/entities/ticket.js'
import { AllTypesSchema } from '../../support/gen/jsontypes_pb.js'
import { SpecimenSchema } from '../../support/gen/specimens_pb.js'
import { Random, randomEntity, randomMessage, repeatedFile } from './random-messages.js'
import { unusual } from './unusual-schemas.js'

const SEED = Number(process.env.ASHLAR_SEED ?? Date.now() % 2 ** 31)
const ENTITIES = [Widget, Specimen, Deposit, Edition, Policy, Note, Reckoned, Ticket, Parcel, Book, Order]
const MESSAGES = [
  AllTypesSchema,
  FieldDescriptorProtoSchema,
  UninterpretedOptionSchema,
  unusual(),
  SpecimenSchema,
]

/** Undefined where it throws. */
const attempt = <T>(work: () => T): T | undefined => {
  try {
    return work()
  } catch {
    return undefined
  }
}

const same = (made: Buffer | undefined, expected: Uint8Array, what: string, seed: number): void => {
  if (made?.equals(expected) !== true)
    expect(made?.toString('hex'), `${what}, ASHLAR_SEED=${seed}`).to.equal(
      Buffer.from(expected).toString('hex'),
    )
}

describe('compiled writers', () => {
  const entities = Math.ceil(drill(5_500, 1_000_000) / ENTITIES.length)
  it(`write each of ${entities * ENTITIES.length} entities as toBinary writes its message`, () => {
    const random = new Random(SEED)
    let count = 0
    let refused = 0
    for (const entity of ENTITIES) {
      const model = resourceModel<object>(entity)
      for (let left = entities; left > 0; left--, count++) {
        const one = randomEntity(model, random)
        const made = attempt(() => ByteWriter.bytesOf(model.write, one))
        const expected = attempt(() => toBinary(model.message as DescMessage, model.toMessage(one)))
        if (expected === undefined) expect(made, `${entity.name}, ASHLAR_SEED=${SEED}`).to.equal(undefined)
        else same(made, expected, entity.name, SEED)
        if (expected === undefined) refused++
      }
    }
    expect(count).to.equal(entities * ENTITIES.length)
    expect(refused / count, 'that no message can hold').to.be.below(0.1)
  })

  const messages = drill(600, 50_000)
  for (const desc of MESSAGES)
    it(`write each of ${messages} messages ${desc.typeName} as toBinary does`, () => {
      const random = new Random(SEED)
      const write = messageWriter(desc)
      for (let left = messages; left > 0; left--) {
        const message = randomMessage(desc, random)
        const made = attempt(() => ByteWriter.bytesOf(write, message))
        same(made, toBinary(desc, message), desc.typeName, SEED)
      }
    })

  /** What a message or an entity can hold although its type does not say so. */
  const ODD: readonly unknown[] = [
    ...[
      undefined,
      null,
      '',
      'x',
      '7',
      7,
      7.5,
      -1,
      2 ** 40,
      1n,
      2n ** 70n,
      true,
      false,
      '00',
      '-0',
      ' ',
      Number.NaN,
    ],
    ...[
      [],
      ['x'],
      [null],
      {},
      { a: 1 },
      new Date(Number.NaN),
      new Uint8Array(2),
      Float64Array.of(1, 2),
      new Map([['a', 'b']]),
    ],
  ]

  for (const desc of [AllTypesSchema, SpecimenSchema])
    it(`leave a value of the wrong type in ${desc.typeName} to toBinary`, () => {
      for (const { localName, oneof } of desc.fields)
        for (const odd of ODD) {
          const value = oneof === undefined ? odd : { case: localName, value: odd }
          const message = Object.assign(create(desc), { [oneof?.localName ?? localName]: value })
          const what = `${localName}: ${typeof odd} ${String(odd)}`
          expect(
            outcome(() => messageBytes(desc, message, Infinity)),
            what,
          ).to.equal(outcome(() => toBinary(desc, message)))
        }
    })

  it('leave a value of the wrong type in an entity to toBinary', () => {
    const model = resourceModel(Specimen)
    for (const { property } of model.entityFields)
      for (const odd of ODD) {
        const entity = Object.assign(model.create(), { [property]: odd })
        const expected = outcome(() => toBinary(SpecimenSchema, model.toMessage(entity)))
        const made = attempt(() => ByteWriter.bytesOf(model.write, entity))
        if (made !== undefined) expect(made.toString('hex'), `${property}: ${typeof odd}`).to.equal(expected)
      }
  })

  it('withhold what a client may never receive', () => {
    const model = resourceModel(Specimen)
    const entity = Object.assign(model.create(), { id: 'a', webhookSecret: 'canary', apiKey: 'canary' })
    expect(ByteWriter.bytesOf(model.write, entity).includes('canary')).to.equal(false)
  })
})

/** The bytes, or what the error says. */
const outcome = (work: () => Uint8Array): string => {
  try {
    return Buffer.from(work()).toString('hex')
  } catch (error) {
    return String(error)
  }
}

describe('the bytes of a message', () => {
  const bytesOf = (write: (out: ByteWriter) => void): Buffer =>
    ByteWriter.bytesOf((_, out) => write(out), undefined)
  const text = (out: ByteWriter, value: string): void => out.string(value)

  it('are a copy of their own, although the buffer is used again', () => {
    const first = bytesOf((out) => text(out, 'first'))
    bytesOf((out) => text(out, 'other'))
    expect(first.toString('latin1')).to.equal('\u0005first')
  })

  it('are not written to the end if they are more than the limit', () => {
    const [set, reads] = repeatedFile()
    expect(() => messageBytes(FileDescriptorSetSchema, set, 10_000)).to.throw(ResourceExhausted)
    expect(reads()).to.be.lessThan(50)
    expect(messageBytes(FileDescriptorSetSchema, set, 1_100_000).length).to.be.greaterThan(1_000_000)
  })

  it('are whole when another message is written in between', () => {
    let inner: Buffer | undefined
    const outer = bytesOf((out) => {
      text(out, 'before')
      inner = bytesOf((other) => text(other, 'inner'))
      text(out, 'after')
    })
    expect([outer.toString('latin1'), inner?.toString('latin1')]).to.deep.equal([
      '\u0006before\u0005after',
      '\u0005inner',
    ])
  })

  it('begin anew after a message that could not be written', () => {
    const broken = () =>
      bytesOf((out) => {
        text(out, 'half')
        throw new TypeError('broken')
      })
    expect(broken).to.throw('broken')
    expect(bytesOf((out) => text(out, 'next')).toString('latin1')).to.equal('\u0004next')
  })

  for (const length of [0, 1, 127, 128, 16_383, 16_384, 2 ** 21 - 1, 2 ** 21, 2 ** 24])
    it(`have ${length} bytes behind their length, wherever the buffer ends`, () => {
      for (const before of [0, 4090, 4095]) {
        const made = bytesOf((out) => {
          out.raw(Buffer.alloc(before))
          const start = out.begin(0)
          out.raw(Buffer.alloc(length, 7))
          out.end(start)
        })
        const expected = bytesOf((out) => out.varint(length))
        expect(made.subarray(before + 1, before + 1 + expected.length).equals(expected)).to.equal(true)
        expect(made.length).to.equal(before + 1 + expected.length + length)
        expect(made.at(-1) ?? 0).to.equal(length === 0 ? 0 : 7)
      }
    })
})
