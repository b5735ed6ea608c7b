import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { emit } from '../../../lib/persistence/emit.js'
import { Aborted, ErrNotFound, ErrPreconditionFailed } from '../../../lib/errors.js'
import { inAcme, rejection } from '../repository/subject.js'
import { Box, type ToldHolder } from './reported-subject.js'

class Stop extends Error {}

/** One event for each change of a resource, and none beside. */
export const changes = (holder: ToldHolder): void => {
  const of = () => holder.subject.of
  const ledger = (id: string, more: object = {}) =>
    inAcme(() => of().ledgers.create({ id, title: 'T', pages: 1, ...more }))
  const told = async () => (await holder.subject.events()).map(({ type, key }) => `${type} ${key}`)

  describe('an event', () => {
    it('is a CloudEvent with the resource, its tenant, its key and the request', async () => {
      const context = RequestContext.current().with({
        requestId: 'r-1',
        principal: { tenant: 'acme', subject: 'ann', groups: [], scopes: [] },
        trace: { traceId: '0123456789abcdef0123456789abcdef', spanId: '0123456789abcdef' },
      })
      const { etag, updateTime } = await of().ledgers.create({ id: 'a', title: 'T', pages: 1 }, { context })
      const [first] = await holder.subject.events()
      const { id, time, ...event } = first?.event ?? { data: {} }
      expect([first?.account, first?.resource, first?.key]).to.deep.equal(['acme', 'ledger', 'a'])
      expect(id).to.match(/^[0-9a-f-]{36}$/)
      expect(Date.parse(time as string)).to.be.closeTo(Date.now(), 60_000)
      expect(event).to.deep.equal({
        specversion: '1.0',
        source: '/ledger',
        type: 'ledger.created',
        subject: 'a',
        datacontenttype: 'application/json',
        accountid: 'acme',
        partitionkey: 'a',
        requestid: 'r-1',
        actor: 'ann',
        traceparent: '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01',
        data: {
          resource: {
            id: 'a',
            title: 'T',
            pages: 1,
            etag,
            updateTime: updateTime.toISOString(),
            accountId: 'acme',
          },
        },
      })
    })

    it('includes who made the change and in which request, for each kind of write', async () => {
      const { ledgers, lines, shelves, binders, boxes } = of()
      const as = <T>(subject: string, fn: () => Promise<T>): Promise<T> =>
        new RequestContext({
          requestId: `r-${subject}`,
          principal: { subject, tenant: 'acme', groups: [], scopes: [] },
        }).run(fn)
      const many = ['u1', 'u2', 'u3', 'u4']
      // Calls in flight at the same time share their statements.
      await Promise.all(many.map((id) => as(id, () => ledgers.create({ id, title: 'T', pages: 1 }))))
      await Promise.all(many.map((id) => as(id, () => ledgers.update(id, { pages: 2 }, ['pages']))))
      await as('ann', () => lines.create({ id: 'l', ledgerId: 'u1' }))
      await as('bea', () => ledgers.batchUpdate([{ key: 'u2', entity: { pages: 3 }, fieldMask: ['pages'] }]))
      await as('cas', () => ledgers.delete('u1'))
      await as('dan', () => ledgers.undelete('u1'))
      await as('eve', () => ledgers.batchDelete(['u3', 'u4']))
      await as('ann', async () => {
        await shelves.create({ id: 's' })
        await binders.create({ id: 'b', shelfId: 's' })
        await boxes.create({ id: 'x', shelfId: 's' })
      })
      await as('fay', () => shelves.delete('s'))
      await as('gil', () =>
        holder.subject.transaction(() => emit({ resource: 'order', verb: 'paid', key: 'o' })),
      )
      const by: Record<string, string[]> = {}
      for (const { type, key, event } of await holder.subject.events()) {
        const who = `${String(event['actor'])} ${String(event['requestid'])}`
        by[who] = [...(by[who] ?? []), `${type} ${key}`].sort()
      }
      expect(by).to.deep.equal({
        ...Object.fromEntries(
          many.map((id) => [`${id} r-${id}`, [`ledger.created ${id}`, `ledger.updated ${id}`]]),
        ),
        'ann r-ann': ['binder.created b', 'box.created x', 'ledger_line.created l', 'shelf.created s'],
        'bea r-bea': ['ledger.updated u2'],
        'cas r-cas': ['ledger.deleted u1', 'ledger_line.deleted l'],
        'dan r-dan': ['ledger.undeleted u1', 'ledger_line.undeleted l'],
        'eve r-eve': ['ledger.deleted u3', 'ledger.deleted u4'],
        'fay r-fay': ['binder.purged b', 'box.purged x', 'shelf.deleted s'],
        'gil r-gil': ['order.paid o'],
      })
    })

    it('includes the reason if the system made the call', async () => {
      for (const id of ['b', 'c']) await ledger(id)
      const scope = { tenant: 'acme', reason: 'retention\n2026' }
      await RequestContext.asSystem(scope, () => of().ledgers.delete('b'))
      await RequestContext.asSystem({ tenant: 'acme' }, () => of().ledgers.delete('c'))
      await RequestContext.as({ tenant: 'acme', subject: 'system:cron' }, () =>
        of().ledgers.create({ id: 'd', title: 'T', pages: 1 }),
      )
      const actors = (await holder.subject.events()).map(({ event }) => event['actor'])
      expect(actors.slice(2)).to.deep.equal(['system:retention 2026', 'system:', 'system%3Acron'])
    })

    it('follows create, update, delete and undelete', async () => {
      await ledger('a')
      await inAcme(() => of().ledgers.update('a', { pages: 2 }, ['pages']))
      await inAcme(() => of().ledgers.delete('a'))
      await inAcme(() => of().ledgers.undelete('a'))
      expect(await told()).to.deep.equal([
        'ledger.created a',
        'ledger.updated a',
        'ledger.deleted a',
        'ledger.undeleted a',
      ])
    })

    it('includes the changed fields of an update, and the root of a deletion', async () => {
      await ledger('a')
      await inAcme(() => of().ledgers.update('a', { pages: 2, title: 'T' }, ['pages', 'title']))
      await inAcme(() => of().ledgers.delete('a'))
      const [, updated, deleted] = await holder.subject.events()
      expect(updated?.event.data).to.deep.include({ changed: ['pages'] })
      expect(updated?.event.data.resource).to.deep.include({ pages: 2 })
      expect(deleted?.event.data.resource).to.have.property('deleteTime')
    })

    it('is none of an update that changes nothing, whatever becomes of the etag', async () => {
      const { etag } = await ledger('a')
      const same = await inAcme(() => of().ledgers.update('a', { pages: 1 }, ['pages']))
      expect(same.etag).not.to.equal(etag)
      expect(await told()).to.deep.equal(['ledger.created a'])
    })

    it('never holds a secret or a credential, and says that one was replaced', async () => {
      const made = await ledger('a', { pin: 'hidden-1' })
      await inAcme(() => of().ledgers.update('a', { pin: 'hidden-2' }, ['pin']))
      const token = await inAcme(() => of().ledgers.remintToken('a'))
      const events = await holder.subject.events()
      expect(events.map(({ event }) => event.data.changed)).to.deep.equal([undefined, ['pin'], ['token']])
      for (const { payload } of events)
        for (const value of ['hidden', made.token ?? '?', token, 'cipher', 'hash', 'salt'])
          expect(payload).not.to.include(value)
    })

    it('is of nobody where all tenants share the resource, and only of the changes that are named', async () => {
      await inAcme(async () => {
        await of().stamps.create({ id: 's', label: 'x' })
        await of().stamps.update('s', { label: 'y' }, ['label'])
        await of().stamps.delete('s')
      })
      const events = await holder.subject.events()
      expect(events.map(({ type, account }) => [type, account])).to.deep.equal([
        ['stamp.created', ''],
        ['stamp.deleted', ''],
      ])
      expect(events[0]?.event)
        .to.include({ source: 'https://stamps.example.com' })
        .and.not.have.property('accountid')
      expect(events[1]?.event.data).to.deep.equal({})
    })

    it('is none of an entity without @Emits()', async () => {
      await inAcme(() => of().blotters.create({ id: 'b', label: 'x' }))
      expect(await told()).to.deep.equal([])
    })

    it('follows each row of a batch', async () => {
      for (const id of ['a', 'b', 'c']) await ledger(id)
      await inAcme(() =>
        of().ledgers.batchUpdate([
          { key: 'b', entity: { pages: 5 }, fieldMask: ['pages'] },
          { key: 'a', entity: { pages: 6 }, fieldMask: ['pages'] },
          { key: 'c', entity: { pages: 1 }, fieldMask: ['pages'] },
        ]),
      )
      await inAcme(() => of().ledgers.batchDelete(['c', 'a']))
      expect((await told()).slice(3)).to.have.members([
        ...['ledger.updated a', 'ledger.updated b', 'ledger.deleted a', 'ledger.deleted c'],
      ])
      expect(await told()).to.have.length(7)
    })

    it('is none of a batch that fails', async () => {
      for (const id of ['a', 'b']) await ledger(id)
      const item = (key: string) => ({ key, entity: { pages: 9 }, fieldMask: ['pages'] }) as const
      await rejection(
        inAcme(() => of().ledgers.batchUpdate([item('a'), item('nowhere')])),
        ErrNotFound,
      )
      await rejection(
        inAcme(() => of().ledgers.batchDelete(['a', 'nowhere'])),
        ErrNotFound,
      )
      expect(await told()).to.have.length(2)
    })

    it('follows what goes along with a delete and comes back with an undelete', async () => {
      await ledger('a')
      for (const id of ['l1', 'l2']) await inAcme(() => of().lines.create({ id, ledgerId: 'a' }))
      await inAcme(() => of().ledgers.delete('a'))
      await inAcme(() => of().ledgers.undelete('a'))
      const along = (await told()).slice(3)
      expect(along.slice(0, 3)).to.have.members([
        'ledger.deleted a',
        'ledger_line.deleted l1',
        'ledger_line.deleted l2',
      ])
      expect(along.slice(3)).to.have.members([
        'ledger.undeleted a',
        'ledger_line.undeleted l1',
        'ledger_line.undeleted l2',
      ])
      const line = (await holder.subject.events()).find(({ type }) => type === 'ledger_line.deleted')
      expect(line?.event.data.before).to.include({ ledgerId: 'a' }).and.not.have.property('deleteTime')
      expect(line?.event.data.resource).to.have.property('deleteTime')
    })

    it('is one for each row that goes for good with what it refers to', async () => {
      Box.heard.length = 0
      await inAcme(async () => {
        await of().shelves.create({ id: 's' })
        for (const id of ['live', 'old']) {
          await of().binders.create({ id, shelfId: 's' })
          await of().boxes.create({ id, shelfId: 's' })
        }
        await of().binders.delete('old')
        await of().boxes.delete('old')
      })
      const sofar = (await told()).length
      await inAcme(() => of().shelves.delete('s'))
      const along = (await holder.subject.events()).slice(sofar)
      expect(along.map(({ type, key }) => `${type} ${key}`)).to.have.members([
        ...['binder.purged live', 'binder.purged old', 'box.purged live', 'box.purged old'],
        'shelf.deleted s',
      ])
      for (const { key, type, event } of along) {
        expect(event.data).not.to.have.property('resource')
        if (type === 'shelf.deleted') continue
        const before = expect(event.data.before).to.include({ id: key, shelfId: 's' })
        if (key === 'live') before.and.not.have.property('deleteTime')
        else before.and.have.property('deleteTime')
      }
      expect(Box.heard).to.deep.equal(['old', 'live'])
    })

    it('follows each row of a purge, and what is removed with it, of every tenant', async () => {
      const expired = { expireTime: new Date('2020-01-01') }
      await RequestContext.asSystem(async () => {
        for (const accountId of ['acme', 'other']) {
          await of().ledgers.create({ id: 'a', title: 'T', pages: 1, accountId, ...expired } as never)
          await of().lines.create({ id: 'l', ledgerId: 'a', accountId } as never)
        }
        expect(await of().ledgers.purgeExpired(new Date('2021-01-01'))).to.equal(2)
      })
      const purged = (await holder.subject.events()).filter(({ type }) => type.endsWith('.purged'))
      expect(purged.map(({ account, type, key }) => `${account} ${type} ${key}`)).to.have.members([
        ...['acme ledger.purged a', 'acme ledger_line.purged l'],
        ...['other ledger.purged a', 'other ledger_line.purged l'],
      ])
    })

    it('is one for each row of a purge, and none of the next one', async () => {
      await RequestContext.asSystem(async () => {
        for (let i = 0; i < 3; i++)
          await of().ledgers.create({
            id: `p${i}`,
            title: 'T',
            pages: 1,
            accountId: 'acme',
            expireTime: new Date(0),
          } as never)
        expect(await of().ledgers.purgeExpired(new Date())).to.equal(3)
        expect(await of().ledgers.purgeExpired(new Date())).to.equal(0)
      })
      expect((await told()).slice(3)).to.have.members([
        'ledger.purged p0',
        'ledger.purged p1',
        'ledger.purged p2',
      ])
    })

    it('is none of a write that finds nothing, or another etag', async () => {
      await ledger('a')
      await rejection(
        inAcme(() => of().ledgers.update('x', { pages: 2 }, ['pages'])),
        ErrNotFound,
      )
      await rejection(
        inAcme(() => of().ledgers.update('a', { pages: 2 }, ['pages'], { ifMatch: 'stale' })),
        ErrPreconditionFailed,
      )
      await rejection(
        inAcme(() => of().ledgers.delete('a', { ifMatch: 'stale' })),
        ErrPreconditionFailed,
      )
      await rejection(
        inAcme(() => of().ledgers.undelete('a')),
        ErrNotFound,
      )
      await rejection(
        RequestContext.as({ tenant: 'other', subject: 'x' }, () => of().ledgers.delete('a')),
        ErrNotFound,
      )
      expect(await told()).to.deep.equal(['ledger.created a'])
    })

    it('is rolled back with its transaction or savepoint', async () => {
      const failing = inAcme(() =>
        holder.subject.transaction(async () => {
          await ledger('a')
          throw new Stop()
        }),
      )
      await rejection(failing, Stop)
      await inAcme(() =>
        holder.subject.transaction(async () => {
          await ledger('b')
          const inner = holder.subject.transaction(async () => {
            await ledger('c')
            throw new Stop()
          })
          await rejection(inner, Stop)
          await rejection(
            inAcme(() => of().ledgers.create({ id: 'b', title: 'again', pages: 1 })),
            Error,
          )
          await ledger('d')
        }),
      )
      expect(await told()).to.deep.equal(['ledger.created b', 'ledger.created d'])
    })

    it('is one although its transaction was tried again', async () => {
      let attempts = 0
      await inAcme(() =>
        of().ledgers.transaction(
          async () => {
            await ledger('a')
            if (++attempts < 3) throw new Aborted('again')
          },
          { maxAttempts: 6 },
        ),
      ).catch((error: unknown) => {
        // Memory retries nothing: there is nothing to wait for.
        if (!(error instanceof Aborted)) throw error
      })
      expect((await told()).length).to.equal(attempts === 3 ? 1 : 0)
    })

    it('is in the order of the changes of a row', async () => {
      await ledger('a')
      const update = (pages: number) => inAcme(() => of().ledgers.update('a', { pages }, ['pages']))
      await Promise.all(Array.from({ length: 12 }, (_, i) => update(i + 2)))
      const events = await holder.subject.events()
      const last = events.at(-1)?.event.data.resource as { readonly pages: number }
      expect(last.pages).to.equal((await inAcme(() => of().ledgers.get('a'))).pages)
      expect(events).to.have.length(13)
    })
  })
}
