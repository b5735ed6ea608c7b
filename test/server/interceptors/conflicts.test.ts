import { expect } from 'chai'
import { Column, Entity } from 'typeorm'
import { Internal, Resource } from '../../../decorators/index.js'
import { backends, databases, describeOn } from '../../support/databases/backends.js'
import { Specimen } from '../../support/entities/specimen.js'
import { SpecimenSchema } from '../../support/gen/specimens_pb.js'
import { serveSpecimens } from '../../support/servers/served-specimens.js'
import { ALICE } from '../../support/servers/server.js'
import { type Listener, listenersOf } from '../validation/calls.js'

@Resource({ type: 'specimen', message: SpecimenSchema })
@Entity('specimens')
class BadgedSpecimen extends Specimen {
  @Internal() @Column({ type: 'varchar', length: 9, default: 'none', unique: true }) badge!: string
}

const TAKEN = [{ field: 'code', description: 'is already taken', reason: 'ALREADY_EXISTS' }]

describeOn('a conflict', backends, (backend) => {
  let served: Awaited<ReturnType<typeof serveSpecimens>>
  let listeners: readonly Listener[]
  before(async () => {
    served = await serveSpecimens(backend)
    listeners = listenersOf(served.client, served.http, {
      CreateSpecimen: ({ specimen_id: id, specimen }) => [
        'POST',
        `/v1/specimens?specimen_id=${String(id)}`,
        specimen,
      ],
      UpdateSpecimen: ({ specimen }) => {
        const { id, code } = specimen as { id: string; code: string }
        return ['PATCH', `/v1/specimens/${id}?update_mask=code`, { code }]
      },
      UndeleteSpecimen: ({ id }) => ['POST', `/v1/specimens/${String(id)}:undelete`, {}],
    })
    const made = [
      ['one', 'secret-value'],
      ['two', 'other'],
      ['gone', 'freed'],
    ]
    for (const [id, code] of made) {
      const request = { specimen: { title: 'Marble', code }, specimen_id: id }
      expect((await served.client.unary('CreateSpecimen', request, ALICE)).code).to.equal(0)
    }
    await served.client.unary('DeleteSpecimen', { id: 'gone' }, ALICE)
    const again = { specimen: { title: 'Marble', code: 'freed' }, specimen_id: 'new' }
    expect((await served.client.unary('CreateSpecimen', again, ALICE)).code).to.equal(0)
  })
  after(() => served?.stop())

  const calls: readonly (readonly [string, string, object, readonly object[], string])[] = [
    [
      'a create',
      'CreateSpecimen',
      { specimen: { title: 'Marble', code: 'secret-value' }, specimen_id: 'three' },
      TAKEN,
      'Specimen "three": code is already taken',
    ],
    [
      'a create with a key that is taken',
      'CreateSpecimen',
      { specimen: { title: 'Marble', code: 'free' }, specimen_id: 'one' },
      [{ ...TAKEN[0], field: 'id' }],
      'Specimen "one" already exists',
    ],
    [
      'a create with a key that a deleted resource has',
      'CreateSpecimen',
      { specimen: { title: 'Marble', code: 'free' }, specimen_id: 'gone' },
      [
        {
          field: 'id',
          description: 'is already taken by a deleted resource: undelete it, or choose another',
          reason: 'ALREADY_EXISTS',
        },
      ],
      'Specimen "gone" already exists, and is deleted',
    ],
    [
      'an update',
      'UpdateSpecimen',
      { specimen: { id: 'two', code: 'secret-value' }, update_mask: { paths: ['code'] } },
      TAKEN,
      'Specimen "two": code is already taken',
    ],
    ['an undelete', 'UndeleteSpecimen', { id: 'gone' }, TAKEN, 'Specimen "gone": code is already taken'],
  ]
  for (const [what, method, request, violations, message] of calls)
    it(`of ${what} names the fields of the rule over gRPC and HTTP, and no value`, async () => {
      for (const { name, call } of listeners) {
        const reply = await call(method, request)
        expect(reply, name).to.deep.include({ code: 6, message, violations })
        expect(JSON.stringify(reply)).to.not.match(/secret-value|freed/)
      }
    })
})

describeOn('a conflict over an @Internal() column', databases, (backend) => {
  it('says that a value is in use, and not that the key exists', async () => {
    const served = await serveSpecimens(backend, undefined, {}, BadgedSpecimen)
    const create = (id: string) =>
      served.client.unary(
        'CreateSpecimen',
        { specimen: { title: 'Marble', code: id }, specimen_id: id },
        ALICE,
      )
    try {
      expect((await create('one')).code).to.equal(0)
      const { code, details } = await create('two')
      expect([code, details]).to.deep.equal([6, 'Specimen "two": a value is already in use'])
    } finally {
      await served.stop()
    }
  })
})
