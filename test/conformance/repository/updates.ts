import { expect } from 'chai'
import { ErrNotFound, ErrPreconditionFailed, InvalidArgument } from '../../../lib/errors.js'
import { Specimen_Phase } from '../../support/gen/specimens_pb.js'
import type { Specimen } from '../../support/entities/specimen.js'
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

    it('writes update_time and a new etag', () =>
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
      it(`rejects ${name} in a mask: ${why}`, () =>
        inAcme(async () => {
          const { id } = await one()
          const update = holder.subject.specimens.update(id, { title: 'x' }, ['title', name as never])
          expect(await rejection(update, InvalidArgument, why)).to.include({ field: 'update_mask' })
          expect((await holder.subject.specimens.get(id)).title).to.equal('Granite')
        }))

    it('rejects * beside another name', () =>
      inAcme(async () => {
        const { id } = await one()
        await rejection(
          holder.subject.specimens.update(id, {}, ['*', 'title'] as never),
          InvalidArgument,
          'the only path',
        )
      }))

    for (const mask of [[], ['*'], ['title'], ['webhook_secret'], ['title,note'], ['no_such_field']])
      it(`with touchOnly and the mask ${JSON.stringify(mask)} writes etag and update_time alone`, () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          const {
            id,
            etag,
            apiKey: _,
            webhookSecret: __,
            ...rest
          } = await one({ ...FULL, webhookSecret: 's' })
          const patch = { ...ZERO, webhookSecret: 'other' }
          const updated = await specimens.update(id, patch, mask, { touchOnly: true })
          expect(updated).to.deep.include(rest)
          expect(updated.etag).to.not.equal(etag)
          expect(await specimens.revealWebhookSecret(id)).to.equal('s')
        }))

    it('with touchOnly checks If-Match, and rejects a missing entity', () =>
      inAcme(async () => {
        const { id, etag } = await one()
        const touch = (ifMatch: string) =>
          holder.subject.specimens.update(id, {}, [], { touchOnly: true, ifMatch })
        await rejection(touch('another'), ErrPreconditionFailed)
        await touch(etag)
        await rejection(touch(etag), ErrPreconditionFailed)
        await holder.subject.specimens.delete(id)
        await rejection(holder.subject.specimens.update(id, {}, [], { touchOnly: true }), ErrNotFound)
      }))

    it('with touchOnly returns the entity if it has neither etag nor update_time', () =>
      inAcme(async () => {
        const { notes } = holder.subject
        const note = await notes.create({ name: 'n', text: 'as it was', stars: 3 })
        const touched = await notes.update('n', { text: '' }, [], { touchOnly: true })
        expect(touched).to.deep.equal(note)
        await rejection(notes.update('nobody', {}, [], { touchOnly: true }), ErrNotFound)
      }))

    for (const mask of [undefined, []])
      it(`with a part of an entity and the mask ${JSON.stringify(mask)} is rejected, and writes nothing`, () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          const created = await one(FULL)
          const refused = specimens.update(created.id, { title: 'x' } as never, mask as never)
          const { message } = await rejection(refused, InvalidArgument, 'lacks active, count,')
          expect(message).to.include('name the fields to write').and.not.include('note')
          expect(await specimens.get(created.id)).to.deep.include({ ...FULL, etag: created.etag })
        }))

    it('with a part of an entity and the mask * sets the rest to zero', () =>
      inAcme(async () => {
        const { id } = await one(FULL)
        const updated = await holder.subject.specimens.update(id, { title: 'New', code: 'd' } as never, ['*'])
        expect(updated).to.deep.include({ ...ZERO, title: 'New', code: 'd' })
      }))

    it('with an instance and without a mask sets missing properties to zero', () =>
      inAcme(async () => {
        const { id } = await one(FULL)
        const entity = Object.assign(new holder.subject.specimens.model.entity(), { title: 'New', code: 'c' })
        const updated = await holder.subject.specimens.update(id, entity)
        expect(updated).to.deep.include({ ...ZERO, title: 'New', code: 'c' })
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

    it('replaces a secret named in a mask, and clears it for an empty value', () =>
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

    it('writes output-only and internal fields in a batch too, and names the option otherwise', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const keys = [(await one()).id, (await one()).id]
        const items = keys.map((key, index) => ({
          ...{ key, entity: { serial: `s-${index}`, bin: `b-${index}` } },
          fieldMask: ['serial', 'bin'] as const,
        }))
        const updated = await specimens.batchUpdate(items as never, { outputOnly: true })
        expect(updated.map(({ serial, bin }) => [serial, bin])).to.deep.equal([
          ['s-0', 'b-0'],
          ['s-1', 'b-1'],
        ])
        for (const name of ['serial', 'bin']) {
          const item = { key: keys[0] as string, entity: {}, fieldMask: [name] }
          const { message } = await rejection(specimens.batchUpdate([item as never]), InvalidArgument)
          expect(message).to.include('outputOnly: true').and.to.include(name)
        }
      }))

    it('takes the name of a property as well as that of its field', () =>
      inAcme(async () => {
        const { id } = await one()
        const { specimens } = holder.subject
        const due = new Date('2031-01-01T00:00:00Z')
        expect(await specimens.update(id, { dueTime: due }, ['dueTime'])).to.deep.include({ dueTime: due })
        const [updated] = await specimens.batchUpdate([
          { key: id, entity: { dueTime: new Date(0), title: 'both' }, fieldMask: ['dueTime', 'title'] },
        ])
        expect(updated).to.deep.include({ dueTime: new Date(0), title: 'both' })
        await specimens.update(id, { webhookSecret: 'second' }, ['webhookSecret'])
        expect(await specimens.revealWebhookSecret(id)).to.equal('second')
      }))

    it('returns ErrNotFound for an unknown key', () =>
      inAcme(async () => {
        await rejection(holder.subject.specimens.update('nobody', { title: 'x' }, ['title']), ErrNotFound)
      }))
  })

  describe('etags', () => {
    it('update, delete and undelete accept a matching If-Match', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const created = await one()
        const updated = await specimens.update(created.id, { title: 'x' }, ['title'], {
          ifMatch: created.etag,
        })
        await specimens.delete(created.id, { ifMatch: updated.etag })
        const [deleted] = (await specimens.list({ showDeleted: true })).items
        expect(deleted?.deleteTime).to.be.instanceOf(Date)
        const restored = await specimens.undelete(created.id, { ifMatch: deleted?.etag ?? '' })
        expect([restored.title, restored.deleteTime]).to.deep.equal(['x', undefined])
        expect(new Set([created, updated, deleted, restored].map((one) => one?.etag)).size).to.equal(4)
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

    it('an empty If-Match matches nothing', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const { id } = await one()
        const update = (key: string) => specimens.update(key, { title: 'y' }, ['title'], { ifMatch: '' })
        await rejection(update(id), ErrPreconditionFailed)
        await rejection(specimens.delete(id, { ifMatch: '' }), ErrPreconditionFailed)
        await rejection(update('nobody'), ErrNotFound)
        expect((await specimens.get(id)).title).not.to.equal('y')
        await specimens.delete(id)
        await rejection(specimens.undelete(id, { ifMatch: '' }), ErrPreconditionFailed)
      }))

    it('an item of a batch is compared with its own If-Match, and one that differs fails them all', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const [a, b, c] = [await one(), await one(), await one()]
        const item = (key: string, ifMatch: string) => ({
          key,
          entity: { title: 'y' },
          fieldMask: ['title'] as const,
          ifMatch,
        })
        const plain = { key: c.id, entity: { note: 'n' }, fieldMask: ['note'] as const }
        for (const [wrong, type] of [
          [item(b.id, 'stale'), ErrPreconditionFailed],
          [item(b.id, ''), ErrPreconditionFailed],
          [item(b.id, `W/"${b.etag}"`), ErrPreconditionFailed],
          [item('nobody', b.etag), ErrNotFound],
        ] as const)
          await rejection(specimens.batchUpdate([plain, wrong, item(a.id, a.etag)]), type)
        const before = await specimens.batchGet([a.id, b.id, c.id])
        expect(before.map(({ etag }) => etag)).to.deep.equal([a.etag, b.etag, c.etag])
        const updated = await specimens.batchUpdate([item(b.id, b.etag), plain, item(a.id, a.etag)])
        expect(updated.map(({ id, title, note }) => [id, title, note])).to.deep.equal([
          [b.id, 'y', b.note],
          [c.id, c.title, 'n'],
          [a.id, 'y', a.note],
        ])
      }))

    it('If-Match on a resource without an etag is ErrPreconditionFailed', async () => {
      const { notes } = holder.subject
      await notes.create({ name: 'notes/1' })
      await rejection(
        notes.update('notes/1', { text: 'x' }, ['text'], { ifMatch: 'e' }),
        ErrPreconditionFailed,
      )
      await rejection(notes.delete('notes/1', { ifMatch: 'e' }), ErrPreconditionFailed)
      await rejection(
        notes.batchUpdate([{ key: 'notes/1', entity: { text: 'x' }, fieldMask: ['text'], ifMatch: 'e' }]),
        ErrPreconditionFailed,
      )
      await rejection(notes.delete('notes/2', { ifMatch: 'e' }), ErrNotFound)
    })
  })
}
