import { expect } from 'chai'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { ErrConflict, ErrNotFound, ErrPreconditionFailed, InvalidArgument } from '../../../lib/errors.js'
import { Specimen_Phase } from '../../support/gen/specimens_pb.js'
import type { Specimen } from '../../support/entities/specimen.js'
import { hashWork } from '../../secrets/hash-work.js'
import {
  asTenant,
  clock,
  draft,
  encryptor,
  type Holder,
  inAcme,
  rejection,
  subjectOptions,
} from './subject.js'

const manyTags = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']))

type Case = readonly [name: string, values: Partial<Specimen>]

const ROUND_TRIPS: readonly Case[] = [
  ['an empty string', { title: '' }],
  ['every plane of Unicode', { title: 'ä\u{1F600}\uFFFD\u0001' }],
  ['quotes, backslashes and SQL', { title: `'"\\\`; DROP TABLE specimens; --%_` }],
  ['a hundred astral characters', { title: '\u{1F600}'.repeat(100) }],
  ['a long text', { note: 'x'.repeat(200_000) }],
  ['no bytes', { blob: new Uint8Array() }],
  ['every byte', { blob: Uint8Array.from({ length: 256 }, (_, i) => i) }],
  ['the least 32-bit integer', { count: -(2 ** 31), weight: 0 }],
  ['the greatest 32-bit integers', { count: 2 ** 31 - 1, weight: 2 ** 32 - 1 }],
  ['the least 64-bit integer', { big: -(2n ** 63n) }],
  ['the greatest 64-bit integer', { big: 2n ** 63n - 1n, huge: 2n ** 63n - 1n }],
  ['2^53 + 1', { big: 2n ** 53n + 1n, huge: 2n ** 53n + 1n }],
  ['a float of 32 bits', { ratio: Math.fround(3.4e38) }],
  ['small doubles', { score: 5e-324 }],
  ['large doubles', { score: 1.7976931348623157e308 }],
  ['0.1 + 0.2', { score: 0.1 + 0.2 }],
  ['the first time', { dueTime: new Date('1000-01-01T00:00:00.000Z') }],
  ['the last time', { dueTime: new Date('9999-12-31T23:59:59.999Z') }],
  ['a time before the epoch', { dueTime: new Date('1969-12-31T23:59:59.999Z') }],
  ['a negative duration', { span: -1n }],
  ['the longest duration', { span: 2n ** 63n - 1n }],
  ['every enum value', { phase: Specimen_Phase.SET }],
  ['an empty list', { labels: [] }],
  ['a list', { labels: ['b', '', 'a', 'b'] }],
  ['an embedded message', { origin: { quarry: 'Q', depth: 2n ** 62n, crew: ['x', 'y'] } }],
  ['tags with hostile keys', { tags: { 'a"b': '1', 'a.b': '2', '\\': '3', '': '4', $: '5', ä: '6' } }],
  ['256 tags', { tags: manyTags(256) }],
  ['nothing optional', { note: undefined as never, rank: undefined as never }],
  ['optional zero values', { note: '', rank: 0 }],
]

const UNSTORABLE: readonly (readonly [field: string, values: Partial<Specimen>, why: RegExp])[] = [
  ['id', { id: 'a\0b' }, /NUL/],
  ['id', { id: 'x'.repeat(256) }, /longer than 255/],
  ['title', { title: 'a\0b' }, /NUL/],
  ['title', { title: '\uD800' }, /surrogate/],
  ['title', { title: 'x'.repeat(101) }, /longer than 100/],
  ['title', { title: 7 as never }, /string/],
  ['note', { note: '\0' }, /NUL/],
  ['count', { count: 1.5 }, /integer/],
  ['count', { count: 2 ** 31 }, /integer/],
  ['count', { count: Number.NaN }, /integer/],
  ['weight', { weight: -1 }, /integer/],
  ['big', { big: 2n ** 63n }, /from/],
  ['big', { big: 5 as never }, /bigint/],
  ['huge', { huge: -1n }, /from/],
  ['huge', { huge: 2n ** 64n }, /from/],
  ['ratio', { ratio: 1e39 }, /finite/],
  ['score', { score: Number.NaN }, /finite/],
  ['score', { score: Infinity }, /finite/],
  ['blob', { blob: 'x' as never }, /Uint8Array/],
  ['phase', { phase: 99 as never }, /RAW/],
  ['due_time', { dueTime: new Date(Number.NaN) }, /1000-01-01/],
  ['due_time', { dueTime: new Date('0999-12-31T23:59:59.999Z') }, /1000-01-01/],
  ['due_time', { dueTime: new Date('+010000-01-01T00:00:00Z') }, /1000-01-01/],
  ['labels', { labels: ['\0'] }, /NUL/],
  ['labels', { labels: 'x' as never }, /array/],
  ['tags["a"]', { tags: { a: '\0' } }, /NUL/],
  ['tags["a\\"b"]', { tags: { 'a"b': 1 as never } }, /string/],
  ['tags["\\u0000"]', { tags: { '\0': 'x' } }, /NUL/],
  ['tags', { tags: manyTags(257) }, /at most 256/],
  ['origin', { origin: { quarry: '\0', depth: 0n, crew: [] } }, /NUL/],
]

/** What columns hold, and what none can. */
export const values = (holder: Holder): void => {
  describe('values', () => {
    for (const [name, fields] of ROUND_TRIPS)
      it(`keep ${name}`, () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          const created = await specimens.create(draft(fields))
          expect(created).to.deep.include(fields)
          expect(await specimens.get(created.id)).to.deep.include(fields)
          const { items } = await specimens.list()
          expect(items[0]).to.deep.include(fields)
          const { apiKey: _, ...rest } = created
          expect(await specimens.update(created.id, rest, undefined)).to.deep.include(fields)
        }))

    for (const [field, fields, why] of UNSTORABLE)
      it(`reject ${field}: ${String(why)} ${String(Object.values(fields)[0]).slice(0, 12)}`, () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          expect(await rejection(specimens.create(draft(fields)), InvalidArgument, why)).to.include({ field })
          if (field === 'id') return
          const { id } = await specimens.create(draft())
          expect(
            await rejection(
              specimens.update(id, fields, [field.split('[')[0] as never]),
              InvalidArgument,
              why,
            ),
          ).to.include({ field })
        }))

    it('reject a mask of more than 1000 paths, in an update and in an item of a batch', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const { id } = await specimens.create(draft())
        const mask = (length: number) =>
          ['count', ...Array.from({ length: length - 1 }, () => 'count')] as never
        const update = (length: number) => specimens.update(id, { count: 7 }, mask(length))
        const batch = (length: number) =>
          specimens.batchUpdate([{ key: id, entity: { count: 8 }, fieldMask: mask(length) }])
        for (const attempt of [update, batch]) {
          await attempt(1000)
          const refusal = await rejection(attempt(1001), InvalidArgument, 'at most 1000')
          expect(refusal.field).to.equal('update_mask')
        }
      }))

    for (const key of ['a\0', '\0', '\uD800'])
      it(`find no row for a key that a column cannot hold: ${JSON.stringify(key)}`, () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          const { id } = await specimens.create(draft())
          await rejection(specimens.get(key), ErrNotFound)
          await rejection(specimens.update(key, { title: 'x' }, ['title']), ErrNotFound)
          await rejection(specimens.delete(key), ErrNotFound)
          await rejection(specimens.undelete(key), ErrNotFound)
          await rejection(specimens.batchGet([id, key]), ErrNotFound)
          await rejection(
            specimens.batchUpdate([{ key, entity: { title: 'x' }, fieldMask: ['title'] }]),
            ErrNotFound,
          )
          await rejection(specimens.batchDelete([id, key]), ErrNotFound)
          await rejection(specimens.revealWebhookSecret(key), ErrNotFound)
          await rejection(specimens.lookupByWebhookSecretHash(key), ErrNotFound)
          await rejection(
            specimens.update(id, { title: 'x' }, ['title'], { ifMatch: key }),
            ErrPreconditionFailed,
          )
        }))

    it('store 0 for -0 in every numeric type', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const zeros = { score: -0, ratio: -0, count: -0 }
        const made = await specimens.create(draft({ id: 'zero', ...zeros }))
        const read = await specimens.get('zero')
        const updated = await specimens.update('zero', zeros, ['score', 'ratio', 'count'])
        const { items } = await specimens.list({ filter: 'score = 0 AND count = 0', orderBy: 'ratio' })
        expect(items.map(({ id }) => id)).to.include('zero')
        for (const { score, ratio, count } of [made, read, updated, ...items])
          expect([score, ratio, count].some((value) => Object.is(value, -0))).to.equal(false)
      }))

    it('are copied: changing a returned entity changes nothing stored', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const given = draft({
          labels: ['a'],
          tags: { a: 'b' },
          blob: new Uint8Array([1]),
          dueTime: new Date(86_400_000),
        })
        const created = await specimens.create(given)
        for (const entity of [given, created, await specimens.get(created.id)]) {
          entity.labels?.push('x')
          Object.assign(entity.tags ?? {}, { x: 'y' })
          entity.blob?.fill(9)
          entity.dueTime?.setTime(0)
        }
        expect(await specimens.get(created.id)).to.deep.include({
          labels: ['a'],
          tags: { a: 'b' },
          blob: new Uint8Array([1]),
          dueTime: new Date(86_400_000),
        })
      }))
  })

  describe('create', () => {
    it('generates a UUIDv7 without a key, and keeps a given one', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        expect((await specimens.create(draft())).id).to.match(
          /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        )
        expect((await specimens.create(draft({ id: '' }))).id).to.have.length(36)
        expect((await specimens.create(draft({ id: 'mine' }))).id).to.equal('mine')
      }))

    it('writes times, expiry and an etag', () =>
      inAcme(async () => {
        const created = await holder.subject.specimens.create(
          draft({ createTime: new Date(0), updateTime: new Date(0), etag: 'mine', deleteTime: new Date(0) }),
        )
        expect(created).to.deep.include({
          createTime: clock.now,
          updateTime: clock.now,
          deleteTime: undefined,
        })
        expect(created.expireTime).to.deep.equal(new Date(clock.now.getTime() + 30 * 86_400_000))
        expect(created.etag).to.match(/^[\w-]{16}$/)
      }))

    it('returns ErrConflict if a key or a unique value is taken', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await specimens.create(draft({ id: 'a', code: 'c' }))
        await rejection(specimens.create(draft({ id: 'a' })), ErrConflict, '^persistence: conflict$')
        await rejection(specimens.create(draft({ id: 'b', code: 'c' })), ErrConflict)
        const { id } = await specimens.create(draft())
        await rejection(specimens.update(id, { code: 'c' }, ['code']), ErrConflict)
        expect((await specimens.list()).items).to.have.length(2)
      }))
  })

  describe('secrets and credentials', () => {
    it('create mints a token that verifies, and returns it once', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const created = await specimens.create(draft({ apiKey: 'chosen by the caller' }))
        expect(created.apiKey).to.match(/^ib_[0-9A-Za-z]{22}_[0-9A-Za-z]{43}$/)
        expect((await specimens.get(created.id)).apiKey).to.equal(undefined)
        const { ok, record } = await specimens.verifyApiKey(created.apiKey ?? '')
        expect({ ok, id: record?.id, key: record?.apiKey }).to.deep.equal({
          ok: true,
          id: created.id,
          key: undefined,
        })
      }))

    it('create and remint generate another public id if one is taken', async () => {
      const { specimens } = holder.subject
      const first = await inAcme(() => specimens.create(draft()))
      const taken = (first.apiKey ?? '').split('_')[1] ?? ''
      for (const mint of [
        async () => (await specimens.create(draft())).apiKey,
        async () => specimens.remintApiKey((await specimens.create(draft())).id),
      ]) {
        const restore = nextPublicId(taken)
        const token = await asTenant('globex', mint).finally(restore)
        expect(token?.split('_')[1]).to.not.equal(taken)
        expect((await specimens.verifyApiKey(token ?? '')).ok).to.equal(true)
      }
    })

    it('verify searches all tenants, without one of its own', async () => {
      const { specimens } = holder.subject
      const { apiKey } = await inAcme(() => specimens.create(draft()))
      expect((await specimens.verifyApiKey(apiKey ?? '')).record?.accountId).to.equal('acme')
    })

    it('verify rejects a wrong, unknown, malformed, foreign, deleted, expired or replaced token', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const { id, apiKey = '' } = await specimens.create(draft())
        const other = (await specimens.create(draft())).apiKey ?? ''
        const [prefix, publicId] = apiKey.split('_')
        const tokens = [
          '',
          '_',
          'ib',
          'ib__x',
          'ib_a_b',
          `${prefix}_${publicId}_${other.split('_')[2]}`,
          apiKey.replace('ib_', 'xx_'),
          `${apiKey}!`,
          'x'.repeat(1_000_000),
        ]
        for (const token of tokens)
          expect(await specimens.verifyApiKey(token)).to.deep.equal({ ok: false, record: undefined })
        await specimens.delete(id)
        expect((await specimens.verifyApiKey(apiKey)).ok).to.equal(false)
        await specimens.undelete(id)
        expect((await specimens.verifyApiKey(apiKey)).ok).to.equal(true)
        const fresh = await specimens.remintApiKey(id)
        expect((await specimens.verifyApiKey(apiKey)).ok).to.equal(false)
        expect((await specimens.verifyApiKey(fresh)).ok).to.equal(true)
        const expired = await specimens.create(draft({ expireTime: new Date(clock.now) }))
        expect((await specimens.verifyApiKey(expired.apiKey ?? '')).ok).to.equal(false)
      }))

    it('verify caches a correct slow check, and rejects a deleted, expired or replaced token at once', () =>
      inAcme(async () => {
        const minter = new CredentialMinter({ spec: { algo: 'pbkdf2-sha256:500:33' } })
        const { specimens } = holder.subject.withOptions({ ...subjectOptions, minter })
        const { id, apiKey = '' } = await specimens.create(draft())
        const isRight = async (token = apiKey) => (await specimens.verifyApiKey(token)).ok
        expect(await isRight()).to.equal(true)
        const { iterations } = await hashWork(async () => expect(await isRight()).to.equal(true))
        expect(iterations).to.equal(0)
        await specimens.delete(id)
        expect(await isRight()).to.equal(false)
        await specimens.undelete(id)
        expect(await isRight()).to.equal(true)
        const fresh = await specimens.remintApiKey(id)
        expect([await isRight(), await isRight(fresh)]).to.deep.equal([false, true])
        const started = clock.now
        const expireTime = new Date(started.getTime() + 1)
        const { apiKey: short = '' } = await specimens.create(draft({ expireTime }))
        expect(await isRight(short)).to.equal(true)
        clock.now = expireTime
        expect(await isRight(short)).to.equal(false)
        clock.now = started
      }))

    it('an unknown credential takes as long as the most expensive stored hash, as a wrong one does', async function () {
      const old = {
        ...subjectOptions,
        minter: new CredentialMinter({ spec: { algo: 'pbkdf2-sha256:500:33' } }),
      }
      const before = holder.subject.withOptions(old).specimens
      const tokens = [(await inAcme(() => before.create(draft()))).apiKey ?? '']
      // In memory there is nothing that an earlier process has minted.
      if ((await inAcme(() => holder.subject.specimens.count())) === 0) return this.skip()
      const fresh = () =>
        holder.subject.withOptions({ ...subjectOptions, minter: new CredentialMinter() }).specimens
      tokens.push((await inAcme(() => fresh().create(draft()))).apiKey ?? '')
      const unknown = `ib_${'A'.repeat(22)}_${'x'.repeat(43)}`
      for (const token of [unknown, ...tokens.map((one) => one.replace(/.{43}$/, 'x'.repeat(43)))]) {
        const specimens = fresh()
        const work = await hashWork(async () =>
          expect((await specimens.verifyApiKey(token)).ok).to.equal(false),
        )
        expect(work.iterations, token).to.equal(1000)
      }
      const work = await hashWork(async () =>
        expect((await fresh().verifyApiKey(tokens[1] ?? '')).ok).to.equal(true),
      )
      expect(work.iterations).to.equal(0)
      // A transaction asks for no second connection.
      const specimens = fresh()
      await inAcme(() => specimens.transaction(async () => void (await specimens.verifyApiKey(unknown))))
    })

    it('a secret is stored as hash and cipher, and is returned only by reveal', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const created = await specimens.create(draft({ webhookSecret: 'hush' }))
        expect(created.webhookSecret).to.equal(undefined)
        expect((await specimens.get(created.id)).webhookSecret).to.equal(undefined)
        expect(await specimens.revealWebhookSecret(created.id)).to.equal('hush')
        expect((await specimens.lookupByWebhookSecretHash(await encryptor.hash('hush'))).id).to.equal(
          created.id,
        )
      }))
  })
}

/** Makes the next token that is minted carry a public id of our choice. */
function nextPublicId(publicId: string): () => void {
  const minter = subjectOptions.minter as CredentialMinter
  const { mint } = minter
  minter.mint = async (options) => {
    minter.mint = mint
    const { token, stored } = await mint.call(minter, options)
    const parts = token.split('_')
    return { token: [parts[0], publicId, parts[2]].join('_'), stored: { ...stored, publicId } }
  }
  return () => (minter.mint = mint)
}
