import { expect } from 'chai'
import { create } from '@bufbuild/protobuf'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { RequestContext } from '../../../lib/context.js'
import type { Call } from '../../../lib/server/chain/call.js'
import type { Handler } from '../../../lib/server/chain/handler.js'
import type { Next } from '../../../lib/server/chain/interceptor.js'
import { methodOf } from '../../../lib/server/chain/method.js'
import { fieldCheck } from '../../../lib/server/validation/field-check.js'
import { validation } from '../../../lib/server/validation/validation.js'
import { Parcel_Size, ParcelService } from '../../support/gen/parcels_pb.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { ALICE } from '../../support/servers/server.js'
import { replyOf } from './calls.js'
import { serveParcels, type ServedParcels } from './served-parcels.js'

const WHOLE = { title: 'books', address: { city: 'Bern' }, size: 'SMALL', weight: 2, code: 'c-1' }
const SENT = {
  carrier: 'post',
  label: 'AAAA',
  reference: 'r',
  floor: 0,
  stops: ['Bern'],
  hints: { ring: 'twice' },
  size: 'LARGE',
  due_time: '2030-01-01T00:00:00Z',
  remark: '',
  sender: 'alice',
}
/** The same as proto-loader takes it, to which a map is a list of entries. */
const SENT_GRPC = {
  ...SENT,
  hints: [{ key: 'ring', value: 'twice' }],
  due_time: { seconds: 1_900_000_000 },
  remark: { value: '' },
}
const CONTEXT = {
  context: new RequestContext({ principal: { subject: 'alice', tenant: 'acme', groups: [], scopes: [] } }),
}

describeOn('field behavior', backends, (backend) => {
  let served: ServedParcels
  before(async () => (served = await serveParcels({}, backend)))
  after(() => served?.stop())

  const store = async (values: object = {}) =>
    (
      await served.parcels.create(
        { title: 'books', size: Parcel_Size.SMALL, code: 'c-1', stamps: {}, ...values },
        CONTEXT,
      )
    ).id
  const stored = (id: string) => served.parcels.get(id, CONTEXT)
  const fieldsOf = (violations: readonly { readonly field: string }[]) => violations.map(({ field }) => field)

  for (const name of ['gRPC', 'HTTP'] as const)
    describe(`over ${name}`, () => {
      const call = (method: string, request: object, headers?: object) =>
        served.listeners.find((one) => one.name === name)!.call(method, request, headers)
      const mapOf = (entries: object) =>
        name === 'gRPC'
          ? Object.entries(entries).map(([key, value]) => ({ key, value: value as unknown }))
          : entries
      const send = (changes: object) =>
        call('SendParcel', { ...(name === 'gRPC' ? SENT_GRPC : SENT), ...changes })

      it('names every REQUIRED field that is missing, in one error', async () => {
        const { code, violations, message } = await call('CreateParcel', { parcel: { weight: 1 } })
        expect(code).to.equal(3)
        expect(violations).to.deep.equal([
          { field: 'parcel.title', description: 'is required', reason: 'REQUIRED' },
          { field: 'parcel.address', description: 'is required', reason: 'REQUIRED' },
          { field: 'parcel.size', description: 'is required', reason: 'REQUIRED' },
        ])
        expect(message).to.equal('parcel.title: is required (and 2 more)')
      })

      it('accepts a whole resource, and a number that is 0', async () => {
        const { code, answer } = await call('CreateParcel', { parcel: { ...WHOLE, weight: 0 } })
        expect(code).to.equal(0)
        expect(answer['title']).to.equal('books')
      })

      it('says the same under validate_only, and of a request without its resource', async () => {
        const { violations } = await call('CreateParcel', {
          parcel: { ...WHOLE, title: '' },
          validate_only: true,
        })
        expect(fieldsOf(violations)).to.deep.equal(['parcel.title'])
      })

      const missing: readonly (readonly [string, object])[] = [
        ['carrier', { carrier: '' }],
        ['label', { label: '' }],
        ['reference', { reference: undefined }],
        ['reference', { reference: '' }],
        ['floor', { floor: undefined }],
        ['stops', { stops: [] }],
        ['hints', { hints: undefined }],
        ['size', { size: 0 }],
        ['due_time', { due_time: undefined }],
        ['remark', { remark: undefined }],
        ['sender', { sender: undefined }],
        ['sender', { sender: undefined, receiver: 'bob' }],
      ]
      for (const [field, changes] of missing)
        it(`requires ${field} of a method of our own: ${JSON.stringify(changes)}`, async () => {
          served.sent.length = 0
          const { code, violations } = await send(changes)
          expect([code, fieldsOf(violations)]).to.deep.equal([3, [field]])
          expect(served.sent).to.deep.equal([])
        })

      /** As a field that is not set: JSON does not name it, and a client of gRPC reads its zero value. */
      const expectWithheld = (answer: Readonly<Record<string, unknown>>) => {
        const { pin, address } = answer as { pin?: unknown; address: Readonly<Record<string, unknown>> }
        const withheld = name === 'gRPC' ? '' : undefined
        expect([pin, address['door_code'], address['doorCode']]).to.deep.equal([
          withheld,
          withheld,
          undefined,
        ])
      }

      it('runs a method of our own whose request has everything, and never returns what is INPUT_ONLY', async () => {
        const { code, answer } = await send({})
        expect(code).to.equal(0)
        expect(answer['title']).to.equal('sent')
        expect((answer['address'] as Record<string, unknown>)['city']).to.equal('Basel')
        expectWithheld(answer)
      })

      it('stores what is INPUT_ONLY, at any depth, and never returns it', async () => {
        const door = name === 'gRPC' ? { door_code: '77' } : { doorCode: '77' }
        const parcel = { ...WHOLE, pin: '1234', address: { city: 'Bern', ...door } }
        const { answer } = await call('CreateParcel', { parcel })
        expectWithheld(answer)
        const { pin, address: kept } = await stored(answer['id'] as string)
        expect([pin, kept?.doorCode]).to.deep.equal(['1234', '77'])
      })

      it('repeats no INPUT_ONLY value of a stored response, and runs once', async () => {
        const door = name === 'gRPC' ? { door_code: '77' } : { doorCode: '77' }
        const parcel = { ...WHOLE, pin: '1234', address: { city: 'Bern', ...door } }
        served.sent.length = 0
        for (const [method, request] of [
          ['CreateParcel', { parcel }],
          ['SendParcel', name === 'gRPC' ? SENT_GRPC : SENT],
        ] as const) {
          const headers = { 'idempotency-key': `${method} over ${name}` }
          const first = await call(method, request, headers)
          const again = await call(method, request, headers)
          expect([first.code, again.code], again.message).to.deep.equal([0, 0])
          expect(again.answer).to.deep.equal(first.answer)
          expectWithheld(again.answer)
        }
        expect(served.sent.length).to.equal(1)
      })

      it('has a path into embedded messages, lists, maps and messages of their own type', async () => {
        const { violations } = await call('CreateParcel', {
          parcel: {
            ...WHOLE,
            address: { street: 'Main' },
            lines: [{ product: 'a' }, { quantity: 2 }],
            stamps: mapOf({ 'a"b': { office: '' }, c: { office: 'Bern' } }),
          },
        })
        expect(fieldsOf(violations)).to.deep.equal([
          'parcel.address.city',
          'parcel.lines[1].product',
          'parcel.stamps["a\\"b"].office',
        ])
        const route = { via: 'a', next: { next: { via: 'c' } } }
        expect(fieldsOf((await send({ route })).violations)).to.deep.equal(['route.next.via'])
      })

      it('requires only what the mask of an update names', async () => {
        const id = await store()
        const update = (parcel: object, ...paths: string[]) =>
          call('UpdateParcel', { parcel: { id, ...parcel }, update_mask: { paths } })
        expect((await update({ weight: 3 }, 'weight')).code).to.equal(0)
        expect(fieldsOf((await update({ weight: 3 }, 'weight', 'title')).violations)).to.deep.equal([
          'parcel.title',
        ])
        expect(fieldsOf((await update({}, 'address')).violations)).to.deep.equal(['parcel.address'])
        expect(fieldsOf((await update({ address: {} }, 'address')).violations)).to.deep.equal([
          'parcel.address.city',
        ])
        expect(fieldsOf((await update({}, 'address.city')).violations)).to.deep.equal(['parcel.address.city'])
        expect(fieldsOf((await update({}, '*')).violations)).to.deep.equal([
          'parcel.title',
          'parcel.address',
          'parcel.size',
        ])
      })

      it('refuses a mask that names what is IMMUTABLE or the IDENTIFIER', async () => {
        const id = await store()
        const { code, violations } = await call('UpdateParcel', {
          parcel: { id, code: 'c-2', title: '' },
          update_mask: { paths: ['code', 'id', 'title'] },
        })
        expect(code).to.equal(3)
        expect(violations.map(({ field, reason }) => [field, reason])).to.deep.equal([
          ['update_mask', 'IMMUTABLE'],
          ['update_mask', 'IDENTIFIER'],
          ['parcel.title', 'REQUIRED'],
        ])
        expect((await stored(id)).code).to.equal('c-1')
      })

      it('keeps what is IMMUTABLE in a full update', async () => {
        const id = await store({ note: 'old' })
        const { code, answer } = await call('UpdateParcel', {
          parcel: { ...WHOLE, id, title: 'new', code: 'c-2' },
          update_mask: { paths: ['*'] },
        })
        expect([code, answer['title'], answer['code']]).to.deep.equal([0, 'new', 'c-1'])
        const { title, code: kept, note } = await stored(id)
        expect([title, kept, note]).to.deep.equal(['new', 'c-1', undefined])
      })

      it('checks each item of a batch under its own mask', async () => {
        const ids = [await store(), await store(), await store()]
        const item = (index: number, parcel: object, ...paths: string[]) => ({
          parcel: { id: ids[index], ...parcel },
          update_mask: { paths },
        })
        const { violations } = await call('BatchUpdateParcels', {
          requests: [
            item(0, {}, 'weight'),
            item(1, { title: '' }, 'title'),
            item(2, { code: 'c' }, 'code'),
            { update_mask: { paths: ['title'] } },
          ],
        })
        expect(fieldsOf(violations)).to.deep.equal([
          'requests[1].parcel.title',
          'requests[2].update_mask',
          'requests[3].parcel',
        ])
        const whole = { ...WHOLE, title: 'new', code: 'c-9' }
        const { code } = await call('BatchUpdateParcels', { requests: [item(0, whole, '*'), item(1, whole)] })
        expect(code).to.equal(0)
        const kept = [await stored(ids[0] as string), await stored(ids[1] as string)]
        expect(kept.map((one) => [one.title, one.code])).to.deep.equal([
          ['new', 'c-1'],
          ['new', 'c-1'],
        ])
      })

      it('sends at most 100 violations, and at most 4 KiB of them', async () => {
        const few = Array.from({ length: 300 }, () => ({ product: '' }))
        const { violations, message } = await call('CreateParcel', { parcel: { ...WHOLE, lines: few } })
        expect(violations.length).to.be.within(80, 100)
        expect(message).to.equal('parcel.lines[0].product: is required (and 99 more)')
        const long = Object.fromEntries(
          few.map((_one, index) => [`${'ü'.repeat(1000)}${index}`, { office: '' }]),
        )
        const bounded = await call('CreateParcel', { parcel: { ...WHOLE, stamps: mapOf(long) } })
        expect(bounded.code).to.equal(3)
        expect(bounded.violations.length).to.be.within(1, 10)
        expect(Buffer.byteLength(JSON.stringify(bounded.violations))).to.be.below(6000)
      })

      it('answers who may not call before it looks at the request', async () => {
        const listener = served.listeners.find((one) => one.name === name)!
        const { code } = await listener.call(
          'CreateParcel',
          { parcel: {} },
          { subject: '', 'account-id': '' },
        )
        expect(code).to.equal(7)
      })
    })

  it('leaves a message type without rules alone', () => {
    const { method } = ParcelService
    expect(fieldCheck(method.countParcels.input)).to.equal(undefined)
    expect(fieldCheck(WidgetService.method.updateWidget.input)).to.equal(undefined)
    const next: Next<Call> = () => create(method.countParcels.output)
    const registered = { method: methodOf(method.countParcels), handler: {} as Handler }
    expect(validation(undefined)(next as never, registered)).to.equal(next)
  })

  it('requires the key of a request', async () => {
    const [grpc] = served.listeners
    expect(fieldsOf((await grpc!.call('GetParcel', { id: '' })).violations)).to.deep.equal(['id'])
  })

  it('requires the resource of a request', async () => {
    const [grpc] = served.listeners
    expect(fieldsOf((await grpc!.call('CreateParcel', {})).violations)).to.deep.equal(['parcel'])
  })

  it('checks each message of a stream under its own mask', async () => {
    served.sent.length = 0
    const messages = [
      { parcel: { weight: 1 }, update_mask: { paths: ['weight'] } },
      { parcel: { title: '' }, update_mask: { paths: ['title'] } },
    ]
    const outcome = replyOf(await served.client.stream('LoadParcels', messages, ALICE))
    expect([outcome.code, fieldsOf(outcome.violations)]).to.deep.equal([3, ['parcel.title']])
    expect(served.sent.length).to.equal(1)
  })

  it('withholds what is INPUT_ONLY from a stream of answers', async () => {
    const { code, answer } = await served.client.stream('TrackParcel', [SENT_GRPC], ALICE)
    expect([code, answer?.['title'], answer?.['pin']]).to.deep.equal([0, 'sent', ''])
    const refused = replyOf(await served.client.stream('TrackParcel', [{}], ALICE))
    expect([refused.code, refused.violations.length]).to.deep.equal([3, 10])
  })
})
