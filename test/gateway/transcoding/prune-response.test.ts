import { expect } from 'chai'
import { create, type Message } from '@bufbuild/protobuf'
import { ListWidgetsResponseSchema, WidgetSchema } from '../../../examples/widgets/gen/widgets_pb.js'
import { SpecimenSchema } from '../../support/gen/specimens_pb.js'
import { type Running, startGateway } from '../start-gateway.js'

describe('read_mask', () => {
  let running: Running
  before(async () => {
    running = await startGateway()
  })
  after(() => running.stop())

  const ask = async (path: string, answer: Message): Promise<unknown> => {
    running.dispatcher.answer = () => answer
    return (await running.fetch(path)).json()
  }
  const widget = { displayName: 'Anvil', tags: { color: 'red', displayName: 'x' } }
  const specimen = create(SpecimenSchema, {
    title: 'a',
    big: 5n,
    origin: { quarry: 'q', depth: 3n },
    blob: Uint8Array.of(1),
  })

  const AIP = 'AIP-157: fields that are not asked for are left out'
  for (const [path, answer, wanted, rule] of [
    [
      '/v1/widgets/1?read_mask=display_name,size',
      create(WidgetSchema, widget),
      { displayName: 'Anvil', size: 0 },
      AIP,
    ],
    [
      '/v1/widgets/1?read_mask=displayName',
      create(WidgetSchema, widget),
      { displayName: 'Anvil' },
      'proto3 JSON: both spellings',
    ],
    ['/v1/widgets/1?readMask=size', create(WidgetSchema, widget), { size: 0 }, 'proto3 JSON: both spellings'],
    [
      '/v1/widgets/1?read_mask=tags',
      create(WidgetSchema, widget),
      { tags: { color: 'red', displayName: 'x' } },
      AIP,
    ],
    [
      '/v1/widgets/1?read_mask=tags.color',
      create(WidgetSchema, widget),
      { tags: { color: 'red' } },
      'AIP-161: a key of a map',
    ],
    [
      `/v1/widgets/1?read_mask=${encodeURIComponent('tags.`a,b.c`,size')}`,
      create(WidgetSchema, { tags: { 'a,b.c': 'x', a: 'y' } }),
      { tags: { 'a,b.c': 'x' }, size: 0 },
      'AIP-161: a key in backticks',
    ],
    [
      '/v1/widgets/1?read_mask=create_time',
      create(WidgetSchema, widget),
      {},
      'proto3 JSON: an absent message stays absent',
    ],
    ['/v1/specimens/1?read_mask=big,blob', specimen, { big: '5', blob: 'AQ==' }, AIP],
    [
      '/v1/specimens/1?read_mask=origin.quarry',
      specimen,
      { origin: { quarry: 'q' } },
      'AIP-161: nested fields',
    ],
    [
      '/v1/specimens/1?read_mask=origin.quarry,origin.depth',
      specimen,
      { origin: { quarry: 'q', depth: '3' } },
      'AIP-161: nested fields',
    ],
    [
      '/v1/specimens/1?read_mask=origin,origin.depth',
      specimen,
      { origin: { quarry: 'q', depth: '3', crew: [] } },
      'AIP-161: the whole covers its parts',
    ],
    [
      '/v1/specimens/1?read_mask=origin.depth,origin',
      specimen,
      { origin: { quarry: 'q', depth: '3', crew: [] } },
      'AIP-161: the whole covers its parts',
    ],
    [
      '/v1/widgets?read_mask=size',
      create(ListWidgetsResponseSchema, { widgets: [{ size: 1 }, {}] }),
      { widgets: [{ size: 1 }, { size: 0 }], nextPageToken: '' },
      'AIP-157: of a list, each item',
    ],
    [
      '/v1/widgets?read_mask=size',
      create(ListWidgetsResponseSchema),
      { widgets: [], nextPageToken: '' },
      'AIP-157: of a list, each item',
    ],
  ] as const)
    it(`${path} returns ${JSON.stringify(wanted)} (${rule})`, async () => {
      expect(await ask(path, answer)).to.deep.equal(wanted)
    })

  for (const path of ['/v1/widgets/1', '/v1/widgets/1?read_mask=', '/v1/widgets/1?read_mask=*'])
    it(`${path} returns everything`, async () => {
      expect(await ask(path, create(WidgetSchema, widget))).to.include.keys(
        'id',
        'displayName',
        'description',
        'price',
        'etag',
      )
    })
})
