import { expect } from 'chai'
import { backends, describeOn } from '../../support/databases/backends.js'
import { serveSpecimens } from '../../support/servers/served-specimens.js'
import { ALICE } from '../../support/servers/server.js'
import { type Listener, listenersOf } from '../validation/calls.js'

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
