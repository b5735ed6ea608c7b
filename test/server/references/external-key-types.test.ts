import { create, type DescMessage } from '@bufbuild/protobuf'
import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { DeclarationError } from '../../../lib/errors.js'
import { memoryRepositoryOf } from '../../../lib/persistence/repository-of.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { InstrumentService } from '../../support/gen/instruments_pb.js'
import { MakerService } from '../../support/gen/makers_pb.js'
import { altered } from '../../support/grpc/altered.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { partly, startServer } from '../../support/servers/server.js'
import { listenersOf } from '../validation/calls.js'

const TYPE = 'makers.example.com/Maker'
const UUID = '0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f'

interface KeyForms {
  /** Of the field that refers to makers, of the key of a maker, and of `ids` in their BatchGet. */
  readonly wires: readonly [reference: Type, key: Type, ids: Type]
  /** What instruments refer to, as a row holds it. */
  readonly held: readonly unknown[]
  /** The keys of the makers that they show; undefined where there is none. */
  readonly shown: readonly (string | undefined)[]
  readonly design: unknown
}

const WIDE = 2n ** 63n - 1n
const FORMS: Readonly<Record<string, KeyForms>> = {
  'uuids as strings': {
    wires: [Type.STRING, Type.STRING, Type.STRING],
    held: [UUID, '', 'gone'],
    shown: [UUID, undefined, undefined],
    design: String,
  },
  'int32 everywhere': {
    wires: [Type.INT32, Type.INT32, Type.INT32],
    held: [7, 0, -7],
    shown: ['7', undefined, '-7'],
    design: Number,
  },
  'int64 everywhere': {
    wires: [Type.INT64, Type.INT64, Type.INT64],
    held: [WIDE, 0n, -7n],
    shown: [String(WIDE), undefined, '-7'],
    design: BigInt,
  },
  'int64 in requests of strings': {
    wires: [Type.INT64, Type.INT64, Type.STRING],
    held: [WIDE, 7n],
    shown: [String(WIDE), '7'],
    design: BigInt,
  },
  'int64, and strings in the other service': {
    wires: [Type.INT64, Type.STRING, Type.STRING],
    held: [WIDE, 7n],
    shown: [String(WIDE), '7'],
    design: BigInt,
  },
  'strings, and int32 in the other service': {
    wires: [Type.STRING, Type.INT32, Type.INT32],
    held: ['7', '007', '7abc', '2147483648', '0', ' 7', ''],
    shown: ['7', undefined, undefined, undefined, '0', undefined, undefined],
    design: String,
  },
  'strings, and fixed64 in the other service': {
    wires: [Type.STRING, Type.FIXED64, Type.FIXED64],
    held: ['18446744073709551615', '-1'],
    shown: ['18446744073709551615', undefined],
    design: String,
  },
  'int64, and uint32 in the other service': {
    wires: [Type.INT64, Type.UINT32, Type.UINT32],
    held: [7n, -7n, 4_294_967_296n],
    shown: ['7', undefined, undefined],
    design: BigInt,
  },
}

const makersOf = ([, key, ids]: KeyForms['wires']) =>
  altered(MakerService, (proto) => {
    for (const field of proto.message('Maker').field) if (field.name === 'id') field.type = key
    for (const field of proto.message('BatchGetMakersRequest').field)
      if (field.name === 'ids') field.type = ids
  })

describe('references to what another process serves, whose keys are', () => {
  for (const [name, { wires, held, shown, design }] of Object.entries(FORMS))
    it(`${name}, are shown`, async () => {
      const makerService = makersOf(wires)
      const instrumentService = altered(
        InstrumentService,
        (proto) => {
          for (const field of proto.message('Instrument').field)
            if (field.name.endsWith('_id')) field.type = wires[0]
        },
        [makerService.file],
      )
      const asked: unknown[] = []
      const batchGetMakers = ({ ids }: { readonly ids: readonly unknown[] }) => {
        asked.push(...ids)
        const of = (text: unknown) => (wires[1] === Type.STRING ? String(text) : toKey(wires[1], text))
        const makers = ids
          .filter((id) => id !== 'gone')
          .map((id) => ({ id: of(id), title: `Maker ${String(id)}` }))
        return create(makerService.method.batchGetMakers.output as DescMessage, { makers } as never)
      }
      const makers = await startServer(
        (builder) => builder.register(makerService, partly(makerService, { batchGetMakers } as never)),
        { httpAddr: '' },
      )
      @Entity('instruments_of_keys')
      @TenantScoped()
      class OfKeys {
        @PrimaryColumn() id!: string
        accountId!: string
        @Column() title!: string
        makerId!: unknown
        repairerId!: unknown
      }
      for (const property of ['makerId', 'repairerId']) {
        Reflect.defineMetadata('design:type', design, OfKeys.prototype, property)
        Column()(OfKeys.prototype, property)
      }
      Resource({ message: instrumentService.method.getInstrument.output as DescMessage, type: 'instrument' })(
        OfKeys,
      )
      const instruments = new (memoryRepositoryOf(OfKeys))()
      await RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
        for (const [at, makerId] of held.entries())
          await instruments.create({ id: `i${at}`, title: 'Lute', makerId, repairerId: held[0] })
      })
      const running = await startServer(
        (builder) => builder.register(instrumentService, instruments as never),
        {},
        (server) => server.recordExternalReferenceTarget(TYPE, makers.grpc),
      )
      const client = new ForeignClient(instrumentService, running.grpc)
      const listeners = listenersOf(client, running.http, {
        ListInstruments: () => ['GET', '/v1/instruments?read_mask=id,maker.title,repairer', undefined],
      })
      for (const { name: listener, call } of listeners) {
        asked.length = 0
        const request = { page_size: 100, read_mask: { paths: ['id', 'maker.title', 'repairer'] } }
        const { answer, message } = await call('ListInstruments', request)
        const page = answer['instruments'] as Readonly<Record<string, { title: string } | null>>[]
        expect(
          page.map(({ maker }) => maker?.title),
          `${listener} ${message}`,
        ).to.deep.equal(shown.map((key) => key && `Maker ${key}`))
        expect(page.map(({ repairer }) => repairer?.title)).to.deep.equal(held.map(() => `Maker ${shown[0]}`))
        const known = new Set(shown.filter((key) => key !== undefined))
        expect(asked.map(String).filter((key) => key !== 'gone')).to.have.members([...known])
      }
      client.close()
      await running.stop()
      await makers.stop()
    })

  it('no keys stop the start, with what to write', () => {
    const service = altered(InstrumentService, (proto) => {
      for (const field of proto.message('Instrument').field)
        if (field.name.endsWith('_id')) field.type = Type.BOOL
    })
    @Resource({ shared: true, message: service.method.getInstrument.output as DescMessage })
    @Entity('instruments_of_no_key')
    class OfNoKey {
      @PrimaryColumn() id!: string
      @Column() title!: string
      @Column() makerId!: boolean
      @Column() repairerId!: boolean
    }
    expect(() => resourceModel(OfNoKey)).to.throw(
      DeclarationError,
      'maker of instruments.v1.Instrument shows a makers.example.com/Maker, but maker_id and repairer_id cannot hold its key: make it one string, or one integer, outside a oneof',
    )
  })
})

/** As a message holds it that another server has made. */
const toKey = (wire: Type, text: unknown): unknown =>
  wire === Type.INT32 || wire === Type.UINT32 ? Number(text) : BigInt(text as string)
