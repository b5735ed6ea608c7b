import { expect } from 'chai'
import { field_behavior, FieldBehavior } from 'ashlar-annotations/google/api/field_behavior_pb.js'
import { handlerOf } from '../../../lib/server/methods/handler-of.js'
import { unkeptImmutable } from '../../../lib/server/methods/immutable-fields.js'
import { ParcelSchema, ParcelService } from '../../support/gen/parcels_pb.js'
import { withOption } from '../validation/altered-service.js'

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
    expect(handlerOf(service.method['updateParcel']!, parts as never, { maxTotalSize: 1 }))
      .to.have.property('problem')
      .that.includes({ kind: 'overwritesImmutable', fn: 'updateParcel', why: 'address.city' })
  })
})
