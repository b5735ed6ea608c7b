import { expect } from 'chai'
import { field_behavior, FieldBehavior } from 'ashlar-annotations/google/api/field_behavior_pb.js'
import { type ResourceModel, resourceModel } from '../../../../lib/resource/resource-model.js'
import { handlerOf } from '../../../../lib/server/methods/handler-of.js'
import { sparingImmutable, unkeptImmutable } from '../../../../lib/server/methods/mask/immutable-fields.js'
import { Specimen } from '../../../support/entities/specimen.js'
import { SpecimenService } from '../../../support/gen/specimens_pb.js'
import { ParcelSchema, ParcelService } from '../../../support/gen/parcels_pb.js'
import { withOption } from '../../validation/altered-service.js'

describe('IMMUTABLE fields', () => {
  const resource = (path: `${string}.${string}`, ...behaviors: FieldBehavior[]) =>
    withOption(ParcelService, path, field_behavior, behaviors).method['createParcel']!.output

  it('are kept where a repository can name them', () => {
    expect(unkeptImmutable(ParcelSchema)).to.deep.equal([])
  })

  it('are told where they are inside of what is replaced as a whole', () => {
    const { IMMUTABLE } = FieldBehavior
    expect(unkeptImmutable(resource('Address.city', IMMUTABLE))).to.deep.equal(['address.city'])
    expect(unkeptImmutable(resource('Line.product', IMMUTABLE))).to.deep.equal(['lines.product'])
    expect(unkeptImmutable(resource('Stamp.office', IMMUTABLE))).to.deep.equal(['stamps.office'])
  })

  it('keep a server from starting whose repository would overwrite them', () => {
    const service = withOption(ParcelService, 'Address.city', field_behavior, [FieldBehavior.IMMUTABLE])
    const parts = { repository: { model: { message: service.method['createParcel']!.output } } }
    expect(
      handlerOf(service.method['updateParcel']!, parts as never, {
        maxTotalSize: 1,
        maxPageBytes: 1_000,
        maxResponseBytes: 1_000,
      }),
    )
      .to.have.property('problem')
      .that.includes({ kind: 'overwritesImmutable', fn: 'updateParcel', why: 'address.city' })
  })

  it('stay in a full update, which writes the secrets that are given', () => {
    const { IMMUTABLE } = FieldBehavior
    const message = withOption(SpecimenService, 'Specimen.title', field_behavior, [IMMUTABLE]).method[
      'getSpecimen'
    ]!.output
    const model = Object.create(resourceModel(Specimen), { message: { value: message } }) as ResourceModel
    const spare = sparingImmutable(model)!
    const full = { paths: ['*'], touchOnly: false }
    const paths = (entity: object, written = full) => spare(written, entity).paths
    const all = paths({})
    expect(all).to.include('note').and.not.to.include('title').and.not.to.include('webhook_secret')
    expect(paths({ webhookSecret: '' })).to.deep.equal(all)
    expect(paths({ webhookSecret: 'new' })).to.deep.equal([...all, 'webhook_secret'])
    expect(paths({}, { paths: [], touchOnly: false })).to.deep.equal(all)
    for (const masked of [
      { paths: ['webhook_secret'], touchOnly: false },
      { paths: [], touchOnly: true },
    ])
      expect(spare(masked, { webhookSecret: 'new' })).to.equal(masked)
  })

  it('stay in a full update also where they are secrets', () => {
    const { IMMUTABLE } = FieldBehavior
    const { output } = withOption(SpecimenService, 'Specimen.webhook_secret', field_behavior, [IMMUTABLE])
      .method['getSpecimen']!
    const model = Object.create(resourceModel(Specimen), { message: { value: output } }) as ResourceModel
    const { paths } = sparingImmutable(model)!({ paths: ['*'], touchOnly: false }, { webhookSecret: 'new' })
    expect(paths).to.include('title').and.not.to.include('webhook_secret')
  })
})
