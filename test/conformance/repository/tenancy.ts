import { expect } from 'chai'
import { RequestContext, type SystemUse } from '../../../lib/context.js'
import { ErrConflict, ErrNotFound, InvalidArgument, PermissionDenied } from '../../../lib/errors.js'
import { asTenant, clock, draft, type Holder, inAcme, rejection } from './subject.js'

/** Isolation of tenants, and the one way around it. */
export const tenancy = (holder: Holder): void => {
  const specimens = () => holder.subject.specimens
  const make = (tenant: string, id: string, values = {}) =>
    asTenant(tenant, () => specimens().create(draft({ id, ...values })))

  /** Each operation that needs a tenant. */
  const attempts: Record<string, () => Promise<unknown>> = {
    get: () => specimens().get('a'),
    list: () => specimens().list(),
    create: () => specimens().create(draft()),
    update: () => specimens().update('a', { title: 'x' }, ['title']),
    delete: () => specimens().delete('a'),
    undelete: () => specimens().undelete('a'),
    batchGet: () => specimens().batchGet(['a']),
    batchUpdate: () => specimens().batchUpdate([{ key: 'a', entity: {}, fieldMask: ['title'] }]),
    batchDelete: () => specimens().batchDelete(['a']),
    purgeExpired: () => specimens().purgeExpired(clock.now),
    lookup: () => specimens().lookupByWebhookSecretHash('h'),
    reveal: () => specimens().revealWebhookSecret('a'),
    remint: () => specimens().remintApiKey('a'),
  }

  describe('tenancy', () => {
    it('assigns account_id from the principal, whatever the caller sent', async () => {
      const created = await inAcme(() => specimens().create(draft({ accountId: 'globex' })))
      expect(created.accountId).to.equal('acme')
    })

    it("another tenant's row is missing to every operation", async () => {
      const theirs = await make('globex', 'theirs', { webhookSecret: 's' })
      await inAcme(async () => {
        await rejection(specimens().get('theirs'), ErrNotFound)
        await rejection(specimens().update('theirs', { title: 'x' }, ['title']), ErrNotFound)
        await rejection(
          specimens().update('theirs', { title: 'x' }, ['title'], { ifMatch: theirs.etag }),
          ErrNotFound,
        )
        await rejection(specimens().delete('theirs'), ErrNotFound)
        await rejection(specimens().revealWebhookSecret('theirs'), ErrNotFound)
        await rejection(specimens().remintApiKey('theirs'), ErrNotFound)
        expect(
          (await specimens().list({ showDeleted: true, filter: 'id = "theirs" OR count >= 0' })).items,
        ).to.have.length(0)
        expect(await specimens().purgeExpired(new Date(8.64e15))).to.equal(0)
      })
      await asTenant('globex', () => specimens().delete('theirs'))
      await inAcme(() => rejection(specimens().undelete('theirs'), ErrNotFound))
    })

    it('two tenants may use the same key and the same unique value', async () => {
      await make('acme', 'same', { code: 'c', title: 'ours' })
      await make('globex', 'same', { code: 'c', title: 'theirs' })
      expect((await inAcme(() => specimens().get('same'))).title).to.equal('ours')
      await inAcme(() => specimens().delete('same'))
      expect((await asTenant('globex', () => specimens().get('same'))).title).to.equal('theirs')
    })

    it('reports each use of asSystem once for each resource, whatever it does there', async () => {
      const uses: SystemUse[] = []
      const end = RequestContext.onSystem((use) => uses.push(use))
      try {
        await inAcme(() =>
          RequestContext.asSystem({ tenant: 'globex', reason: 'support' }, async () => {
            await specimens().create(draft({ id: 'reported', accountId: 'globex' }))
            await specimens().get('reported')
            await specimens().transaction(() => specimens().update('reported', { title: 'x' }, ['title']))
            await specimens().list()
            await holder.subject.notes.list()
          }),
        )
        await RequestContext.asSystem(() => specimens().purgeExpired(clock.now))
        await asTenant('globex', () => specimens().get('reported'))
      } finally {
        end()
      }
      const ada = { subject: 'ada', tenant: 'acme' }
      const support = { requestId: '', principal: ada, reason: 'support', tenant: 'globex' }
      expect(uses).to.deep.equal([
        { ...support, resource: 'specimen' },
        { ...support, resource: 'note' },
        {
          requestId: '',
          principal: { subject: '', tenant: '' },
          reason: undefined,
          tenant: '*',
          resource: 'specimen',
        },
      ])
    })

    it('every operation without a tenant is PermissionDenied', async () => {
      await make('acme', 'a')
      for (const attempt of Object.values(attempts)) {
        await rejection(Promise.resolve().then(attempt), PermissionDenied)
        await rejection(
          RequestContext.as({ tenant: '', subject: 'ada' }, () => Promise.resolve().then(attempt)),
          PermissionDenied,
        )
      }
      expect((await inAcme(() => specimens().list())).items).to.have.length(1)
    })

    for (const tenant of ['\0', 'acme\0', 'acme\0globex', '\ud800', 'acme\udc00'])
      it(`every operation with the tenant ${JSON.stringify(tenant)}, which a column cannot hold, is PermissionDenied`, async () => {
        await make('acme', 'a')
        for (const attempt of Object.values(attempts)) {
          await rejection(
            RequestContext.as({ tenant, subject: 'ada' }, () => Promise.resolve().then(attempt)),
            PermissionDenied,
          )
          await rejection(
            RequestContext.asSystem({ tenant }, () => Promise.resolve().then(attempt)),
            PermissionDenied,
          )
        }
        expect((await inAcme(() => specimens().list())).items).to.have.length(1)
      })

    it('a principal whose tenant is undefined or null has none', async () => {
      await make('acme', 'a')
      for (const tenant of [undefined, null, 0, {}] as never[]) {
        const as = (attempt: () => Promise<unknown>) => RequestContext.as({ tenant, subject: 'ada' }, attempt)
        await rejection(
          as(() => specimens().list()),
          PermissionDenied,
        )
        await rejection(
          as(() => specimens().create(draft({ accountId: 'acme' }))),
          PermissionDenied,
        )
        await rejection(
          as(() => specimens().delete('a')),
          PermissionDenied,
        )
        await rejection(
          as(() => holder.subject.specimens.purgeExpired(clock.now)),
          PermissionDenied,
        )
      }
    })

    it('asSystem rejects an empty tenant instead of using all tenants', async () => {
      for (const tenant of [undefined, ''] as never[])
        expect(() => RequestContext.asSystem({ tenant }, () => specimens().list())).to.throw(
          TypeError,
          'tenant',
        )
      await Promise.resolve()
    })

    it('asSystem reaches every tenant, and asSystem({ tenant }) one', async () => {
      await make('acme', 'a')
      await make('globex', 'b')
      const ids = async () => (await specimens().list()).items.map(({ id }) => id)
      expect(await RequestContext.asSystem(ids)).to.deep.equal(['a', 'b'])
      expect(await RequestContext.asSystem({ tenant: 'globex' }, ids)).to.deep.equal(['b'])
      expect((await RequestContext.asSystem(() => specimens().get('b'))).accountId).to.equal('globex')
      expect(
        (await RequestContext.asSystem(() => specimens().update('b', { title: 's' }, ['title']))).accountId,
      ).to.equal('globex')
    })

    it('asSystem rejects a key that several tenants have, until a tenant is given', async () => {
      await make('acme', 'same')
      await make('globex', 'same')
      for (const attempt of <(() => Promise<unknown>)[]>[
        () => specimens().get('same'),
        () => specimens().delete('same'),
        () => specimens().batchGet(['same']),
      ])
        await rejection(RequestContext.asSystem(attempt), InvalidArgument, 'asSystem')
      expect(
        (await RequestContext.asSystem({ tenant: 'acme' }, () => specimens().get('same'))).accountId,
      ).to.equal('acme')
    })

    it('asSystem creates rows with the given account_id, and requires one', async () => {
      const created = await RequestContext.asSystem(() => specimens().create(draft({ accountId: 'initech' })))
      expect(created.accountId).to.equal('initech')
      await rejection(
        RequestContext.asSystem(() => specimens().create(draft())),
        InvalidArgument,
        'account_id',
      )
    })

    it('asSystem lists every tenant page by page', async () => {
      for (const tenant of ['acme', 'globex']) for (const id of ['a', 'b']) await make(tenant, id)
      const seen: string[] = []
      await RequestContext.asSystem(async () => {
        let pageToken = ''
        do {
          const page = await specimens().list({ pageSize: 1, pageToken, orderBy: 'title' })
          seen.push(...page.items.map(({ id, accountId }) => `${accountId}/${id}`))
          pageToken = page.nextPageToken
        } while (pageToken !== '')
      })
      expect(seen.sort()).to.deep.equal(['acme/a', 'acme/b', 'globex/a', 'globex/b'])
    })

    it('a soft delete keeps the key in use and frees unique values', () =>
      inAcme(async () => {
        await make('acme', 'a', { code: 'c' })
        await specimens().delete('a')
        await rejection(specimens().create(draft({ id: 'a' })), ErrConflict)
        await specimens().create(draft({ id: 'b', code: 'c' }))
        await rejection(specimens().undelete('a'), ErrConflict)
      }))

    it('all tenants share a resource without a tenant', async () => {
      await holder.subject.notes.create({ name: 'notes/1' })
      expect((await inAcme(() => holder.subject.notes.get('notes/1'))).name).to.equal('notes/1')
    })
  })
}
