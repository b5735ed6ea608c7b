import { expect } from 'chai'
import { ErrNotFound, ErrPreconditionFailed, InvalidArgument } from '../../lib/errors.js'
import { TOUCH_ONLY } from '../../lib/persistence/repository.js'
import { Specimen_Phase } from '../support/gen/specimens_pb.js'
import type { Specimen } from '../support/specimen.js'
import { clock, draft, encryptor, type Holder, inAcme, rejection } from './subject.js'

const FULL: Partial<Specimen> = {
  title: 'Marble',
  note: 'veined',
  active: true,
  count: 7,
  weight: 4_000_000_000,
  big: 2n ** 53n + 1n,
  huge: 12n,
  ratio: 0.5,
  score: 1.25,
  blob: new Uint8Array([0, 255]),
  phase: Specimen_Phase.CUT,
  dueTime: new Date('2030-01-01T00:00:00.001Z'),
  span: 1_500_000_000n,
  labels: ['a', 'b'],
  origin: { quarry: 'Carrara', depth: 2n ** 60n, crew: ['Pia'] },
  tags: { env: 'prod' },
  rank: 3,
}

const ZERO: Partial<Specimen> = {
  title: '',
  note: undefined as never,
  active: false,
  count: 0,
  weight: 0,
  big: 0n,
  huge: 0n,
  ratio: 0,
  score: 0,
  blob: new Uint8Array(),
  phase: Specimen_Phase.PHASE_UNSPECIFIED,
  dueTime: undefined as never,
  span: undefined as never,
  labels: [],
  origin: undefined as never,
  tags: {},
  rank: undefined as never,
}

const REFUSED = [
  ['id', 'the key of a resource never changes'],
  ['account_id', 'a resource never changes its tenant'],
  ['etag', 'the server assigns it'],
  ['create_time', 'the server assigns it'],
  ['update_time', 'the server assigns it'],
  ['delete_time', 'call Delete or Undelete'],
  ['expire_time', 'the server assigns it'],
  ['serial', 'it is output-only'],
  ['api_key', 'minted by the server'],
  ['bin', 'there is no field'],
  ['nope', 'there is no field'],
  ['displayName', 'there is no field'],
  ['title,note', 'there is no field'],
  ['__proto__', 'there is no field'],
  ['constructor', 'there is no field'],
  ['deleted_at', 'there is no field'],
  ['webhook_secret_hash', 'there is no field'],
] as const

/** The specification's rules of Update. */
export const updates = (holder: Holder): void => {
  const one = (values: Partial<Specimen> = {}) => holder.subject.specimens.create(draft(values))

  describe('update', () => {
    it('with a mask writes only the named fields', () =>
      inAcme(async () => {
        const created = await one(FULL)
        const updated = await holder.subject.specimens.update(
          created.id,
          { ...ZERO, title: 'New', count: 9 },
          ['title', 'count'],
        )
        expect(updated).to.deep.include({ ...FULL, title: 'New', count: 9, code: created.code })
      }))

    it('with a mask writes a zero value and clears an optional field', () =>
      inAcme(async () => {
        const { id } = await one(FULL)
        const updated = await holder.subject.specimens.update(id, {}, ['active', 'note', 'labels', 'origin'])
        expect(updated).to.deep.include({
          active: false,
          note: undefined,
          labels: [],
          origin: undefined,
          count: 7,
        })
      }))

    for (const mask of [undefined, [], ['*']] as const)
      it(`without a mask (${JSON.stringify(mask)}) writes every writable column, zero values included`, () =>
        inAcme(async () => {
          const created = await one({ ...FULL, bin: 'shelf', serial: 's-1' })
          const { code, accountId, createTime } = created
          const updated = await holder.subject.specimens.update(
            created.id,
            { ...ZERO, code } as Specimen,
            mask as undefined,
          )
          expect(updated).to.deep.include({
            ...ZERO,
            code,
            accountId,
            createTime,
            bin: 'shelf',
            serial: 's-1',
          })
        }))

    it('without a mask never writes account_id, key, times or expiry', () =>
      inAcme(async () => {
        const created = await one(FULL)
        const theirs = new Date(0)
        const updated = await holder.subject.specimens.update(created.id, {
          ...created,
          id: 'other',
          accountId: 'globex',
          createTime: theirs,
          updateTime: theirs,
          expireTime: theirs,
          deleteTime: theirs,
          etag: 'mine',
        })
        const { id, accountId, createTime, expireTime } = created
        expect(updated).to.deep.include({ id, accountId, createTime, expireTime, deleteTime: undefined })
        expect(updated.etag).to.not.be.oneOf(['mine', created.etag])
      }))

    it('stamps update_time and a new etag', () =>
      inAcme(async () => {
        const created = await one()
        const before = clock.now
        clock.now = new Date(before.getTime() + 1000)
        try {
          const updated = await holder.subject.specimens.update(created.id, { title: 'x' }, ['title'])
          expect(updated.updateTime).to.deep.equal(clock.now)
          expect(updated.createTime).to.deep.equal(before)
          expect(updated.etag).to.not.equal(created.etag)
        } finally {
          clock.now = before
        }
      }))

    for (const [name, why] of REFUSED)
      it(`refuses ${name} in a mask: ${why}`, () =>
        inAcme(async () => {
          const { id } = await one()
          const update = holder.subject.specimens.update(id, { title: 'x' }, ['title', name as never])
          expect(await rejection(update, InvalidArgument, why)).to.include({ field: 'update_mask' })
          expect((await holder.subject.specimens.get(id)).title).to.equal('Granite')
        }))

    it('refuses * beside another name', () =>
      inAcme(async () => {
        const { id } = await one()
        await rejection(
          holder.subject.specimens.update(id, {}, ['*', 'title'] as never),
          InvalidArgument,
          'alone',
        )
      }))

    it('touching only writes etag and update_time', () =>
      inAcme(async () => {
        const { id, etag, apiKey: _, ...rest } = await one(FULL)
        const updated = await holder.subject.specimens.update(id, ZERO as Specimen, TOUCH_ONLY as [])
        expect(updated).to.deep.include(rest)
        expect(updated.etag).to.not.equal(etag)
      }))

    it('rewrites a secret only when the entity carries a new value', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const created = await one({ webhookSecret: 'first' })
        await specimens.update(created.id, { ...created, webhookSecret: undefined as never })
        expect(await specimens.revealWebhookSecret(created.id)).to.equal('first')
        await specimens.update(created.id, { ...created, webhookSecret: '' })
        expect(await specimens.revealWebhookSecret(created.id)).to.equal('first')
        await specimens.update(created.id, { ...created, webhookSecret: 'second' })
        expect(await specimens.revealWebhookSecret(created.id)).to.equal('second')
        expect((await specimens.lookupByWebhookSecretHash(await encryptor.hash('second'))).id).to.equal(
          created.id,
        )
        await rejection(specimens.lookupByWebhookSecretHash(await encryptor.hash('first')), ErrNotFound)
      }))

    it('a secret named in a mask is replaced, and cleared by an empty value', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const { id } = await one({ webhookSecret: 'first' })
        await specimens.update(id, { webhookSecret: 'second' }, ['webhook_secret'])
        expect(await specimens.revealWebhookSecret(id)).to.equal('second')
        await specimens.update(id, { webhookSecret: '' }, ['webhook_secret'])
        expect(await specimens.revealWebhookSecret(id)).to.equal(undefined)
      }))

    it('lets server code, and only it, name an output-only or internal field', () =>
      inAcme(async () => {
        const { id } = await one()
        const options = { outputOnly: true }
        const updated = await holder.subject.specimens.update(
          id,
          { serial: 's-9', bin: 'b' },
          ['serial', 'bin' as never],
          options,
        )
        expect(updated).to.include({ serial: 's-9', bin: 'b' })
        await rejection(holder.subject.specimens.update(id, {}, ['etag'], options), InvalidArgument)
      }))

    it('answers ErrNotFound for a key nobody has', () =>
      inAcme(async () => {
        await rejection(holder.subject.specimens.update('nobody', { title: 'x' }, ['title']), ErrNotFound)
      }))
  })

  describe('etags', () => {
    it('a matching If-Match lets update, delete and undelete through', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const created = await one()
        const updated = await specimens.update(created.id, { title: 'x' }, ['title'], {
          ifMatch: created.etag,
        })
        await specimens.delete(created.id, { ifMatch: updated.etag })
        const [deleted] = (await specimens.list({ showDeleted: true })).items
        await specimens.undelete(created.id, { ifMatch: deleted?.etag ?? '' })
      }))

    it('a stale If-Match is ErrPreconditionFailed with type ETAG, and nothing is written', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const created = await one()
        await specimens.update(created.id, { title: 'x' }, ['title'])
        for (const attempt of [
          () => specimens.update(created.id, { title: 'y' }, ['title'], { ifMatch: created.etag }),
          () => specimens.delete(created.id, { ifMatch: created.etag }),
        ]) {
          const { details } = await rejection(
            attempt(),
            ErrPreconditionFailed,
            '^persistence: precondition failed$',
          )
          expect(details).to.deep.include.members([
            details.find((detail) => detail.kind === 'preconditionFailure' && detail.type === 'ETAG'),
          ])
        }
        expect((await specimens.get(created.id)).title).to.equal('x')
        await specimens.delete(created.id)
        await rejection(specimens.undelete(created.id, { ifMatch: created.etag }), ErrPreconditionFailed)
      }))

    it('If-Match on a missing or deleted entity is ErrNotFound', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const { id, etag } = await one()
        await specimens.delete(id)
        await rejection(specimens.update(id, { title: 'x' }, ['title'], { ifMatch: etag }), ErrNotFound)
        await rejection(specimens.delete('nobody', { ifMatch: etag }), ErrNotFound)
        await rejection(specimens.undelete('nobody', { ifMatch: etag }), ErrNotFound)
      }))

    it('If-Match on a resource without an etag is ErrPreconditionFailed', async () => {
      const { notes } = holder.subject
      await notes.create({ name: 'notes/1' })
      await rejection(
        notes.update('notes/1', { text: 'x' }, ['text'], { ifMatch: 'e' }),
        ErrPreconditionFailed,
      )
      await rejection(notes.delete('notes/1', { ifMatch: 'e' }), ErrPreconditionFailed)
      await rejection(notes.delete('notes/2', { ifMatch: 'e' }), ErrNotFound)
    })
  })
}
