import { expect } from 'chai'
import { RequestContext } from '../../lib/context.js'
import {
  AshlarError,
  ErrConflict,
  ErrNotFound,
  ErrPreconditionFailed,
  InvalidArgument,
} from '../../lib/errors.js'
import { captureSql } from '../../lib/testing/index.js'
import { backends, coalesced, describeOn, distributed } from '../support/databases/backends.js'
import type { Project } from './relations/projects.js'
import { rejection } from '../support/rejection.js'
import { openRelations, type RelationSubject } from './relations/relation-subject.js'

const as = <T>(tenant: string, fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant, subject: 'ada' }, fn)
const asAcme = <T>(fn: () => Promise<T>): Promise<T> => as('acme', fn)

describeOn('a reference', [...backends, ...coalesced, ...distributed], (backend) => {
  let at: RelationSubject
  before(async () => {
    at = await openRelations(backend)
  })
  after(() => at?.close())
  beforeEach(async () => {
    await at.clear()
    await as('umbrella', async () => {
      await at.teams.create({ id: 'theirs' })
      await at.projects.create({ id: 'theirs' })
    })
    await asAcme(async () => {
      await at.projects.create({ id: 'live' })
      await at.projects.create({ id: 'other' })
      await at.projects.create({ id: 'gone' })
      await at.projects.delete('gone')
      await at.tasks.create({ id: 'kept', projectId: 'live' })
    })
  })

  const MISSING = ['nosuch', 'theirs', 'gone', '', 'LIVE', 'live ', "live' --"]
  const refused = async (write: () => Promise<unknown>, key: string) => {
    const error = await rejection(write(), InvalidArgument)
    expect(error, key).to.include({ field: 'project_id' })
    expect(error.message).to.equal('project_id: there is no such project')
  }

  it('of a new entity must name a live row of the same tenant, and no error says which condition failed', () =>
    asAcme(async () => {
      for (const key of MISSING)
        await refused(() => at.tasks.create({ id: `of ${key}`, projectId: key }), key)
      expect((await at.tasks.list()).items).to.have.length(1)
      const made = await at.tasks.create({ id: 'made', title: 'x', projectId: 'live' })
      expect(made).to.include({ id: 'made', title: 'x', projectId: 'live' })
      expect(await at.tasks.get('made')).to.deep.equal(made)
    }))

  it('is refused before the key is found to be taken', () =>
    asAcme(async () => {
      await refused(() => at.tasks.create({ id: 'kept', projectId: 'nosuch' }), 'kept')
      await rejection(at.tasks.create({ id: 'kept', projectId: 'live' }), ErrConflict)
    }))

  it('of an updated entity must name such a row, with or without a mask', () =>
    asAcme(async () => {
      for (const key of MISSING) {
        await refused(() => at.tasks.update('kept', { projectId: key }, ['project_id']), key)
        await refused(() => at.tasks.update('kept', { id: 'kept', projectId: key } as never), key)
        await refused(() => at.tasks.update('kept', { id: 'kept', projectId: key } as never, ['*']), key)
        await refused(() => at.tasks.modify('kept', () => ({ projectId: key })), key)
      }
      const { etag } = await at.tasks.get('kept')
      const moved = await at.tasks.update('kept', { projectId: 'other' }, ['project_id'], {
        ...(etag !== undefined && { ifMatch: etag }),
      })
      expect(moved).to.include({ id: 'kept', projectId: 'other' })
      expect(moved.etag).to.not.equal(etag)
      expect(await at.tasks.modify('kept', () => ({ projectId: 'live' }))).to.include({ projectId: 'live' })
    }))

  it('is not checked if it is not written', () =>
    asAcme(async () => {
      expect(await at.tasks.update('kept', { title: 'y' }, ['title'])).to.include({ projectId: 'live' })
    }))

  it('is checked after the entity’s existence and etag', () =>
    asAcme(async () => {
      await rejection(at.tasks.update('nosuch', { projectId: 'nosuch' }, ['project_id']), ErrNotFound)
      await rejection(at.tasks.update('nosuch', { projectId: 'live' }, ['project_id']), ErrNotFound)
      await rejection(
        at.tasks.update('kept', { projectId: 'nosuch' }, ['project_id'], { ifMatch: 'another' }),
        ErrPreconditionFailed,
      )
      await rejection(
        at.tasks.update('kept', { projectId: 'live' }, ['project_id'], { ifMatch: 'another' }),
        ErrPreconditionFailed,
      )
      await as('umbrella', () =>
        rejection(at.tasks.update('kept', { projectId: 'theirs' }, ['project_id']), ErrNotFound),
      )
    }))

  it('is checked in each item of a batch, of which nothing is written then', () =>
    asAcme(async () => {
      await at.tasks.create({ id: 'second', projectId: 'live' })
      const items = (key: string) =>
        ['kept', 'second'].map((id, i) => ({
          key: id,
          entity: { projectId: i === 0 ? 'other' : key },
          fieldMask: ['project_id'],
        }))
      for (const key of MISSING) await refused(() => at.tasks.batchUpdate(items(key)), key)
      expect(await at.tasks.get('kept')).to.include({ projectId: 'live' })
      const updated = await at.tasks.batchUpdate(items('other'))
      expect(updated.map(({ projectId }) => projectId)).to.deep.equal(['other', 'other'])
    }))

  it('reports a missing entity of a batch before what the entities behind it refer to', () =>
    asAcme(async () => {
      const items = [
        { key: 'absent', entity: { projectId: 'live' }, fieldMask: ['project_id'] },
        { key: 'kept', entity: { projectId: 'nosuch' }, fieldMask: ['project_id'] },
      ]
      await rejection(at.tasks.batchUpdate(items), ErrNotFound)
    }))

  it('is checked by one statement per target in a batch, not per entity', () =>
    asAcme(async () => {
      const { dataSource } = at
      if (dataSource?.options.type !== 'postgres') return
      const keys = Array.from({ length: 40 }, (_, i) => `t${i}`)
      for (const id of keys) await at.tasks.create({ id, projectId: 'live' })
      const captured = captureSql(dataSource)
      await at.tasks.batchUpdate(
        keys.map((key, i) => ({
          ...{ key, entity: { projectId: i % 2 === 0 ? 'other' : 'live' }, fieldMask: ['project_id'] },
        })),
      )
      captured.stop()
      expect(captured.queries.map(({ text }) => text)).to.have.length(3)
      expect((await at.tasks.list({ filter: 'project_id = "other"' })).items).to.have.length(20)
    }))

  it('may be absent if it is optional', () =>
    asAcme(async () => {
      const project = await at.projects.create({ id: 'free' })
      expect(project.teamId).to.equal(undefined)
      await at.teams.create({ id: 'team' })
      expect(await at.projects.update('free', { teamId: 'team' }, ['team_id'])).to.include({ teamId: 'team' })
      const cleared = await at.projects.update('free', {}, ['team_id'])
      expect(cleared.teamId).to.equal(undefined)
    }))

  it('must stay within the tenant if the key alone identifies the target', () =>
    asAcme(async () => {
      await at.teams.create({ id: 'ours' })
      const error = await rejection(at.projects.create({ id: 'a', teamId: 'theirs' }), InvalidArgument)
      expect(error.field).to.equal('team_id')
      expect(await at.projects.create({ id: 'a', teamId: 'ours' })).to.include({ teamId: 'ours' })
    }))

  it('may name a shared row', async () => {
    await RequestContext.as({ subject: 'ada' }, () => at.currencies.create({ id: 'eur' }))
    const currency = async (id: string) =>
      (await at.projects.create({ currency: { id } })) as Project & { currencyId?: string }
    for (const tenant of ['acme', 'umbrella'])
      await as(tenant, async () => {
        expect((await currency('eur')).currencyId).to.equal('eur')
        expect(await rejection(currency('usd'), InvalidArgument)).to.include({ field: 'currency_id' })
      })
  })

  it('may be given as the related object', () =>
    asAcme(async () => {
      const made = await at.tasks.create({ id: 'b', project: { id: 'live' } } as never)
      expect(made).to.include({ projectId: 'live' })
      const after = await at.tasks.create({ id: 'c', projectId: 'live', after: { id: 'b' } } as never)
      expect(after).to.include({ afterId: 'b' })
      expect(await at.tasks.get('c')).to.include({ afterId: 'b' })
      const moved = await at.tasks.update('c', { after: { id: 'kept' } } as never, ['after'])
      expect(moved).to.include({ afterId: 'kept' })
      const changed = await at.tasks.modify('c', () => ({ after: { id: 'b' } }) as never)
      expect(changed).to.include({ afterId: 'b' })
      expect(await at.tasks.update('c', { after: null } as never, ['after'])).to.not.include.keys('after')
      expect(((await at.tasks.get('c')) as { afterId?: string }).afterId).to.equal(undefined)
      const error = await rejection(
        at.tasks.create({ projectId: 'live', project: { id: 'other' } } as never),
        InvalidArgument,
      )
      expect(error.message).to.equal('project_id: it differs from the key of project: set one of the two')
      expect((await rejection(at.tasks.create({ project: {} } as never), InvalidArgument)).message).to.equal(
        'project_id: project has no key: pass an object with the key of the other resource',
      )
    }))

  it('may name the same resource, and the row itself once it exists', () =>
    asAcme(async () => {
      const after = (id: string, key: string) =>
        at.tasks.create({ id, projectId: 'live', after: { id: key } } as never)
      expect(await rejection(after('d', 'd'), InvalidArgument)).to.include({ field: 'after_id' })
      await after('d', 'kept')
      const itself = await at.tasks.update('d', { after: { id: 'd' } } as never, ['after'])
      expect(itself).to.include({ afterId: 'd' })
    }))

  it('may connect two resources in both directions', () =>
    asAcme(async () => {
      await at.lefts.create({ id: 'l' })
      await at.rights.create({ id: 'r', leftId: 'l' })
      expect(await at.lefts.update('l', { rightId: 'r' }, ['right_id'])).to.include({ rightId: 'r' })
      expect(await rejection(at.lefts.create({ id: 'm', rightId: 'x' }), InvalidArgument)).to.include({
        field: 'right_id',
      })
    }))

  it('is unique if it is one-to-one', () =>
    asAcme(async () => {
      await at.charters.create({ id: 'a', project: { id: 'live' } } as never)
      await rejection(at.charters.create({ id: 'b', project: { id: 'live' } } as never), ErrConflict)
      await at.charters.create({ id: 'b', project: { id: 'other' } } as never)
    }))

  it('names the first of several that are missing', () =>
    asAcme(async () => {
      const write = at.tasks.create({ id: 'e', projectId: 'live', after: { id: 'x' } } as never)
      expect(await rejection(write, InvalidArgument)).to.include({ field: 'after_id' })
      const both = at.tasks.create({ id: 'e', projectId: 'x', after: { id: 'x' } } as never)
      expect(await rejection(both, InvalidArgument)).to.include({ field: 'project_id' })
    }))

  it('may name a row that the same transaction created, and not one that it deleted', () =>
    asAcme(async () => {
      await at.projects.transaction(async () => {
        await at.projects.create({ id: 'new' })
        await at.tasks.create({ id: 'f', projectId: 'new' })
        await at.projects.delete('other')
        await refused(() => at.tasks.create({ id: 'g', projectId: 'other' }), 'other')
        await at.tasks.create({ id: 'g', projectId: 'live' })
      })
      expect(await at.tasks.get('g')).to.include({ projectId: 'live' })
    }))

  it('must stay within the entity’s tenant when the system writes', async () => {
    await RequestContext.asSystem(async () => {
      const made = await at.tasks.create({ id: 'h', accountId: 'umbrella', projectId: 'theirs' })
      expect(made).to.include({ accountId: 'umbrella', projectId: 'theirs' })
      await refused(() => at.tasks.create({ id: 'i', accountId: 'umbrella', projectId: 'live' }), 'live')
      expect(await at.tasks.update('h', { projectId: 'theirs' }, ['project_id'])).to.include({ id: 'h' })
      await refused(() => at.tasks.update('h', { projectId: 'live' }, ['project_id']), 'live')
    })
  })

  it('is rejected like any other if it is not valid text', () =>
    asAcme(async () => {
      const error = await rejection(at.tasks.create({ projectId: 'a\0' }), AshlarError)
      expect(error).to.include({ code: 'INVALID_ARGUMENT' })
    }))
})
