import { expect } from 'chai'
import type { DescMethod } from '@bufbuild/protobuf'
import type { UpdateWidgetRequest } from '../../../examples/widgets/gen/widgets_pb.js'
import type { UpdateSpecimenRequest } from '../../support/gen/specimens_pb.js'
import { json, type Running, startGateway } from '../start-gateway.js'
import type { UpdateMaskMode } from '../../../lib/gateway/transcoding/update-mask-forms.js'

interface Outcome {
  readonly status: number
  /** What the handler's request named. */
  readonly mask: readonly string[]
  readonly ignored: readonly string[]
  readonly header: string | null
  readonly message: string
}

describe('update_mask', () => {
  const warned: object[] = []
  const counted: (readonly [DescMethod, readonly string[]])[] = []
  const running = new Map<UpdateMaskMode, Running>()
  before(async () => {
    for (const updateMask of ['spec', 'strict', 'normalize'] as const)
      running.set(
        updateMask,
        await startGateway({
          updateMask,
          logger: { warn: (fields) => warned.push(fields), error: () => {} },
          onIgnoredMask: (method, paths) => counted.push([method, paths]),
        }),
      )
  })
  after(() => Promise.all([...running.values()].map((each) => each.stop())))
  beforeEach(() => {
    warned.length = counted.length = 0
    for (const { dispatcher } of running.values()) dispatcher.heard.length = 0
  })

  async function update(
    mode: UpdateMaskMode,
    query: string,
    headers: Record<string, string> = {},
  ): Promise<Outcome> {
    const { fetch, dispatcher } = running.get(mode) as Running
    const init = json('PATCH', { displayName: 'a' })
    const answer = await fetch(`/v1/widgets/1${query}`, { ...init, headers: { ...init.headers, ...headers } })
    const body = (await answer.json()) as { readonly message?: string }
    const heard = dispatcher.heard.at(-1)
    return {
      status: answer.status,
      mask: (heard?.request as UpdateWidgetRequest | undefined)?.updateMask ?? [],
      ignored: heard?.incoming.ignoredMask ?? [],
      header: answer.headers.get('x-ignored-update-mask'),
      message: body.message ?? '',
    }
  }

  const SEPARATE = 'Gateway encodings: separate repeated parameters in proto spelling'
  for (const mode of ['spec', 'strict', 'normalize'] as const)
    for (const [query, mask, rule] of [
      ['?update_mask=display_name', ['display_name'], SEPARATE],
      ['?update_mask=display_name&update_mask=size', ['display_name', 'size'], SEPARATE],
      ['?updateMask=size', ['size'], 'proto3 JSON: both spellings of the parameter'],
      ['?update_mask=*', ['*'], 'AIP-134: * is a full update'],
      ['?update_mask=tags.color', ['tags.color'], 'AIP-161: a key of a map'],
      ['?update_mask=tags.displayName', ['tags.displayName'], 'AIP-161: a key of a map is as it is'],
      ['', [], 'a missing mask is for the chain to refuse'],
      ['?update_mask=', [], 'a blank mask is for the chain to refuse'],
      ['?update_mask=&update_mask=', [], 'a blank mask is for the chain to refuse'],
    ] as const)
      it(`${mode}: ${query === '' ? 'nothing' : query} names ${mask.join(' and ') || 'nothing'} (${rule})`, async () => {
        const outcome = await update(mode, query)
        expect(outcome).to.deep.include({ status: 200, mask, ignored: [], header: null })
      })

  const COMMA = 'Gateway encodings: comma-joined'
  const CAMEL = 'Gateway encodings: camelCase'
  for (const [query, kept, ignored, header, normalized, rule] of [
    [
      '?update_mask=display_name,size',
      [],
      ['display_name,size'],
      'display_name%2Csize;nearest="display_name size"',
      ['display_name', 'size'],
      COMMA,
    ],
    [
      '?update_mask=displayName',
      [],
      ['displayName'],
      'displayName;nearest="display_name"',
      ['display_name'],
      CAMEL,
    ],
    [
      '?update_mask=displayName,size',
      [],
      ['displayName,size'],
      'displayName%2Csize;nearest="display_name size"',
      ['display_name', 'size'],
      COMMA,
    ],
    [
      '?update_mask=display_name,%20size',
      [],
      ['display_name, size'],
      'display_name%2C%20size;nearest="display_name size"',
      ['display_name', 'size'],
      COMMA,
    ],
    [
      '?update_mask=size&update_mask=displayName',
      ['size'],
      ['displayName'],
      'displayName;nearest="display_name"',
      ['size', 'display_name'],
      CAMEL,
    ],
    [
      '?update_mask=createTime&update_mask=size,price',
      [],
      ['createTime', 'size,price'],
      'createTime;nearest="create_time", size%2Cprice;nearest="size price"',
      ['create_time', 'size', 'price'],
      CAMEL,
    ],
    ['?update_mask=size,*', [], ['size,*'], 'size%2C*;nearest="size *"', ['size', '*'], COMMA],
  ] as const) {
    it(`spec: ${query} writes nothing of it, and says so (${rule})`, async () => {
      const outcome = await update('spec', query)
      expect(outcome).to.deep.include({ status: 200, ignored, header })
      expect(outcome.mask).to.deep.equal(kept.length > 0 ? kept : ignored)
    })

    it(`spec: ${query} is an error to who prefers that (RFC 7240, ${rule})`, async () => {
      const outcome = await update('spec', query, { prefer: 'handling=strict' })
      expect(outcome).to.deep.include({ status: 400, ignored: [], header: null })
      expect(outcome.message).to.match(/^update_mask: name each field in a parameter of its own/)
    })

    it(`strict: ${query} is an error (${rule})`, async () => {
      expect(await update('strict', query)).to.deep.include({ status: 400, header: null })
    })

    it(`normalize: ${query} names ${normalized.join(' and ')} (${rule})`, async () => {
      expect(await update('normalize', query)).to.deep.include({
        status: 200,
        mask: normalized,
        ignored: [],
        header: null,
      })
    })
  }

  for (const mode of ['spec', 'strict', 'normalize'] as const)
    for (const query of [
      '?update_mask=nope',
      '?update_mask=Display_Name',
      '?update_mask=displayname',
      '?update_mask=display_name,nope',
      '?update_mask=size&update_mask=nope',
      '?update_mask=size&update_mask=',
      '?update_mask=size,',
      '?update_mask=,',
      '?update_mask=size.x',
      '?update_mask=create_time.seconds.x',
      '?update_mask=__proto__',
      '?update_mask=tags.`a',
      '?update_mask=%20size',
    ])
      it(`${mode}: ${query} is wrong in every spelling`, async () => {
        const outcome = await update(mode, query)
        expect(outcome.status).to.equal(400)
        expect(outcome.message).to.match(/^update_mask: unknown field "/)
      })

  it('logs and counts what it ignored', async () => {
    await update('spec', '?update_mask=a,b'.replace('a,b', 'size,price'), { 'x-request-id': 'r1' })
    expect(warned).to.deep.equal([
      {
        method: 'widgets.v1.WidgetService/UpdateWidget',
        requestId: 'r1',
        ignored: [{ path: 'size,price', nearest: ['size', 'price'] }],
      },
    ])
    expect(counted.map(([method, paths]) => [method.name, paths])).to.deep.equal([
      ['UpdateWidget', ['size,price']],
    ])
  })

  it('says that it preferred to be strict', async () => {
    const { fetch } = running.get('spec') as Running
    const init = json('PATCH', {})
    const answer = await fetch('/v1/widgets/1?update_mask=size', {
      ...init,
      headers: { ...init.headers, prefer: 'respond-async, handling="strict"' },
    })
    expect(answer.headers.get('preference-applied')).to.equal('handling=strict')
  })

  it('keeps the header within 512 bytes', async () => {
    const many = Array.from({ length: 30 }, () => 'update_mask=displayName').join('&')
    const long = `update_mask=${Array.from({ length: 60 }, () => 'displayName').join(',')}`
    for (const query of [many, long]) {
      const { header } = await update('spec', `?${query}`)
      expect(header)
        .to.have.length.within(1, 512)
        .and.match(/^displayName/)
      expect(() => decodeURIComponent(header ?? '')).not.to.throw()
    }
  })

  it('leaves a FieldMask to its own mapping: one comma-joined parameter, either spelling', async () => {
    const { fetch, dispatcher } = running.get('spec') as Running
    const answer = await fetch('/v1/specimens/1?update_mask=title,dueTime', json('PATCH', {}))
    expect(answer.headers.get('x-ignored-update-mask')).to.equal(null)
    expect((dispatcher.last.request as UpdateSpecimenRequest).updateMask?.paths).to.deep.equal([
      'title',
      'due_time',
    ])
  })

  it('passes an update on without a body', async () => {
    const { fetch, dispatcher } = running.get('spec') as Running
    await fetch('/v1/widgets/7?update_mask=size', { method: 'PATCH' })
    expect((dispatcher.last.request as UpdateWidgetRequest).widget?.id).to.equal('7')
  })
})
