import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { ErrNotFound, PermissionDenied } from '../../../lib/errors.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import type { Restriction } from '../../../lib/server/authz/decision.js'
import { RestrictedRepository } from '../../../lib/server/row-access/restricted-repository.js'
import { type OpenSubject, openSubject } from '../../conformance/repository/open-subject.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import type { Specimen } from '../../support/entities/specimen.js'
import { rejection } from '../../support/rejection.js'

/** Rows are whoever's their title says, and in the drawer that their note names. */
const ROWS = [
  ['ann in one', 'ann', 'one'],
  ['ann in two', 'ann', 'two'],
  ['all in two', 'all', 'two'],
  ['bob in one', 'bob', 'one'],
  ['bob in two', 'bob', 'two'],
] as const

const all: Restriction = { isNone: false, where: undefined, test: undefined, check: undefined }
const ownedBy =
  (...titles: string[]) =>
  (specimen: object) =>
    Promise.resolve(titles.includes((specimen as Specimen).title))

/** What ann may change, and what she may get. */
const DECISIONS: Readonly<Record<string, readonly [own: Restriction, readable: Restriction]>> = {
  'a predicate': [
    { ...all, where: filter`title = "ann"` },
    { ...all, where: filter`title = "ann" OR title = "all"` },
  ],
  'a function of the entity': [
    { ...all, test: ownedBy('ann'), check: ownedBy('ann') },
    { ...all, test: ownedBy('ann', 'all') },
  ],
}

describeOn('the `where` of a restricted operation', backends, (backend) => {
  let subject: OpenSubject
  let round = 0
  let tenant = ''
  before(async () => {
    subject = await openSubject(backend)
  })
  after(() => subject.close())

  const inTenant = <T>(fn: () => Promise<T>) => RequestContext.as({ tenant, subject: 'ann' }, fn)
  beforeEach(async () => {
    tenant = `restricted-${++round}`
    await inTenant(async () => {
      for (const [id, title, note] of ROWS) await subject.specimens.create({ id, title, note, code: id })
    })
  })
  const counts = () =>
    inTenant(async () => {
      const { items } = await subject.specimens.list({ orderBy: 'id' })
      return items.map(({ id, count }) => [id, count])
    })

  for (const [form, [own, readable]] of Object.entries(DECISIONS))
    describe(`beside ${form}`, () => {
      const where = filter`note = "one"`
      const restricted = () =>
        new RestrictedRepository(
          subject.specimens,
          { own, readable: () => readable, explain: () => undefined },
          'acts',
        )
      const item = (key: string) => ({ key, entity: { count: 5 }, fieldMask: ['count'] })
      /** Each operation about one row. */
      const about: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
        get: (id) => restricted().get(id, { where }),
        batchGet: (id) => restricted().batchGet([id], { where }),
        update: (id) => restricted().update(id, { count: 5 }, ['count'], { where }),
        modify: (id) => restricted().modify(id, () => ({ count: 5 }), { where }),
        delete: (id) => restricted().delete(id, { where }),
        batchUpdate: (id) => restricted().batchUpdate([item(id)], { where }),
        batchDelete: (id) => restricted().batchDelete([id], { where }),
      }
      for (const [name, act] of Object.entries(about)) {
        it(`holds ${name} to both`, async () => {
          const before = await counts()
          for (const id of ['ann in two', 'all in two', 'bob in one', 'bob in two', 'nobody'])
            await inTenant(() => rejection(act(id), ErrNotFound))
          expect(await counts()).to.deep.equal(before)
          await inTenant(() => act('ann in one'))
        })
      }

      it('holds undelete to both', async () => {
        await inTenant(() => subject.specimens.batchDelete(ROWS.map(([id]) => id)))
        for (const id of ['ann in two', 'all in two', 'bob in one', 'bob in two'])
          await inTenant(() => rejection(restricted().undelete(id, { where }), ErrNotFound))
        expect(await counts()).to.deep.equal([])
        await inTenant(() => restricted().undelete('ann in one', { where }))
        expect(await counts()).to.deep.equal([['ann in one', 0]])
      })

      it('still tells what may be got and not changed', async () => {
        const two = { where: filter`note = "two"` }
        const write = () => restricted().update('all in two', { count: 5 }, ['count'], two)
        await inTenant(() => rejection(write(), PermissionDenied))
      })

      if (own.where !== undefined)
        it('holds list, count and exists to both', async () => {
          await inTenant(async () => {
            const { items } = await restricted().list({}, { where })
            expect(items.map((one) => (one as Specimen).id)).to.deep.equal(['ann in one'])
            expect(await restricted().count({}, { where })).to.equal(1)
            expect(await restricted().exists({}, { where: filter`note = "three"` })).to.equal(false)
            expect(await restricted().exists({ filter: 'title = "bob"' }, { where })).to.equal(false)
          })
        })
    })
})
