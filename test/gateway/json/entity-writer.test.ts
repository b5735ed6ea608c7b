import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { Book } from '../../../examples/library/book.js'
import { Order } from '../../../examples/orders/order.js'
import { ListWidgetsResponseSchema } from '../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { entityWriter } from '../../../lib/gateway/json/entity-writer.js'
import { messageWriter } from '../../../lib/gateway/json/writer.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { EntityReply } from '../../../lib/server/chain/entity-reply.js'
import { entityForm, type Listed, listForm } from '../../../lib/server/methods/reply-forms.js'
import { Random, randomEntity } from '../../resource/wire/random-messages.js'
import { drill } from '../../support/drill.js'
import { Deposit } from '../../support/entities/deposit.js'
import { Edition, Policy } from '../../support/entities/edition.js'
import { Parcel } from '../../support/entities/parcel.js'
import { Reckoned } from '../../support/entities/reckoned.js'
import { Note, Specimen } from '../../support/entities/specimen.js'
import { Ticket } from '../../support/entities/ticket.js'

const SEED = Number(process.env.ASHLAR_SEED ?? Date.now() % 2 ** 31)
const ENTITIES = [Widget, Specimen, Deposit, Edition, Policy, Note, Reckoned, Ticket, Parcel, Book, Order]
const NO_TYPES = {}

/** The text, or what the error says. */
const outcome = (work: () => string): string => {
  try {
    return work()
  } catch (error) {
    return String(error)
  }
}

describe('the JSON of an entity', () => {
  const each = Math.ceil(drill(3_300, 1_000_000) / ENTITIES.length)
  for (const entity of ENTITIES)
    it(`is that of its message, for ${each} entities ${entity.name}`, () => {
      const random = new Random(SEED)
      const model = resourceModel<object>(entity)
      const desc = model.message as DescMessage
      const write = entityWriter(desc, model.outputs)
      const writeMessage = messageWriter(desc)
      const form = entityForm(model, desc)
      let written = 0
      for (let left = each; left > 0; left--) {
        const one = randomEntity(model, random)
        const expected = outcome(() => writeMessage(model.toMessage(one), NO_TYPES))
        const made = outcome(() => new EntityReply(form as never, one).json(NO_TYPES))
        if (made !== expected) expect(made, `${entity.name}, ASHLAR_SEED=${SEED}`).to.equal(expected)
        if (outcome(() => write(one, NO_TYPES)) === expected) written++
      }
      expect(written / each, 'written without a message').to.be.above(0.5)
    })

  /** What an entity can hold although its type does not say so. */
  const ODD: readonly unknown[] = [
    ...[undefined, null, '', 'x', '7', 7, 7.5, -1, -0, 2 ** 40, 1n, 2n ** 70n, true, false, Number.NaN],
    ...[[], ['x'], [null], {}, { a: 1 }, { a: 'b' }, new Map([['a', 'b']]), new Uint8Array(2)],
    ...[new Date(Number.NaN), new Date(8.64e15), new Date(-62135596800001), new Date(-1)],
  ]

  it('is that of its message for values of other types, and so is what is wrong with them', () => {
    const model = resourceModel<object>(Specimen)
    const desc = model.message as DescMessage
    const form = entityForm(model, desc)
    for (const { property } of model.entityFields)
      for (const odd of ODD) {
        const entity = Object.assign(model.create(), { [property]: odd })
        expect(
          outcome(() => new EntityReply(form as never, entity).json(NO_TYPES)),
          `${property}: ${typeof odd} ${String(odd)}`,
        ).to.equal(outcome(() => messageWriter(desc)(model.toMessage(entity), NO_TYPES)))
      }
  })

  it('withholds what a client may never receive', () => {
    const model = resourceModel<object>(Specimen)
    const entity = Object.assign(model.create(), { id: 'a', webhookSecret: 'canary', apiKey: 'canary' })
    const text = entityWriter(model.message as DescMessage, model.outputs)(entity, NO_TYPES)
    expect(text).to.contain('"id":"a"').and.not.contain('canary')
  })
})

describe('the JSON of a page', () => {
  const model = resourceModel<object>(Widget)
  const items = ListWidgetsResponseSchema.field.widgets as DescField
  const form = listForm(model, ListWidgetsResponseSchema, items)
  const random = new Random(SEED)
  const pages: Record<string, Listed> = {
    empty: { items: [] },
    'of one': { items: [randomEntity(model, random)], nextPageToken: '' },
    'of several': {
      items: Array.from({ length: 5 }, () => randomEntity(model, random)),
      nextPageToken: 'a"b',
    },
  }

  for (const [name, page] of Object.entries(pages))
    it(`is that of its message: ${name}`, () => {
      const expected = outcome(() => messageWriter(form.desc)(form.toMessage(page), NO_TYPES))
      expect(outcome(() => new EntityReply(form as never, page).json(NO_TYPES))).to.equal(expected)
    })

  it('is that of the message that somebody has changed', () => {
    const reply = new EntityReply(form as never, { items: [], nextPageToken: 'mine' })
    Object.assign(reply.message, { nextPageToken: 'yours' })
    expect(reply.json(NO_TYPES)).to.equal('{"widgets":[],"nextPageToken":"yours"}')
  })
})
