import { expect } from 'chai'
import { InvalidArgument } from '../../../../lib/errors.js'
import { forgedToken } from '../../../support/values/forged-token.js'
import { SORTABLE } from '../orders.js'
import { draft, type Holder, inAcme, rejection, subjectOptions } from '../subject.js'

/** What a client can put in the place of a sort value. */
const FORGED: readonly unknown[] = [
  ...[null, true, false, 0, 1, -1, 0.5, 1e300, -1e300, 2 ** 31, 2 ** 53, 5e-324],
  ...[
    '',
    'x',
    'RAW',
    '\0',
    'a\0b',
    '\ud800',
    "'; DROP TABLE specimens; --",
    'x'.repeat(600),
    '😀'.repeat(513),
  ],
  ...['infinity', '-infinity', 'NaN', 'now', '2024-02-29', '2024-02-30 00:00:00+00', '2024-13-45 00:00:00'],
  ...['2024-01-01 00:00:00+00', '0000-00-00 00:00:00', '99999-01-01 00:00:00+00', '300000-01-01 00:00:00+00'],
  ...[
    '4713-01-01 00:00:00+00 BC',
    '9999-01-01 00:00:00+00 BC',
    '0000-01-01 00:00:00+00',
    '2024-01-01 25:00:00',
  ],
  ...['1', '-1', '01', '+1', '-0', '1e3', '', '9'.repeat(20), `-${'9'.repeat(20)}`, 5].map((i) => ({ i })),
  ...['NaN', 'Infinity', '-Infinity', '-0', '0', '1', 'nan', '', 0].map((n) => ({ n })),
  ...[0, 0.5, 1e300, -1e15, 253_402_300_800_000, '0', null].map((t) => ({ t })),
  ...['', 'AA', 'AB', 'AA==', 'A', '!', 'a b', 'A'.repeat(2000), 1].map((b) => ({ b })),
  ...[{}, [], [1], ['x'], { z: 1 }, { i: '1', n: '1' }, { toString: 'x' }, { length: 1 }, [[[[]]]]],
]

/** What a page token is, and what passes for one. */
export const tokens = (holder: Holder): void => {
  describe('page token', () => {
    for (const orderBy of SORTABLE)
      it(`is rejected or returns a page if it is forged, sorted by ${orderBy}`, () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          await specimens.create(draft({ id: 'a' }))
          for (const value of FORGED)
            for (const direction of ['asc', 'desc']) {
              const order = `${orderBy} ${direction}`
              const values = orderBy === 'id' ? [value] : [value, 'a']
              const pageToken = forgedToken(values, order, 'acme')
              const outcome: unknown = await specimens.list({ orderBy: order, pageToken }).then(
                ({ items }) => items.length,
                (error: unknown) => error,
              )
              if (outcome === 0 || outcome === 1) continue
              expect(outcome, JSON.stringify(value))
                .to.be.instanceOf(InvalidArgument)
                .with.property('field', 'page_token')
            }
        }))

    it('is rejected in any other shape, however deep', () =>
      inAcme(async () => {
        const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
        for (const text of [
          deep,
          `[${deep},"x"]`,
          `[[${deep}],"x"]`,
          `[[{"i":${deep}}],"x"]`,
          `{"a":${deep}}`,
        ])
          expect(
            await rejection(
              holder.subject.specimens.list({ pageToken: Buffer.from(text).toString('base64url') }),
              InvalidArgument,
            ),
          ).to.include({ field: 'page_token' })
      }))

    it('is rejected in any format but the canonical one', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        for (const id of ['a', 'b', 'c']) await specimens.create(draft({ id, title: '?>?>~~' }))
        const list = { orderBy: 'title', pageSize: 1 }
        const { nextPageToken: token } = await specimens.list(list)
        expect((await specimens.list({ ...list, pageToken: token })).items.map(({ id }) => id)).to.deep.equal(
          ['b'],
        )
        const bytes = Buffer.from(token, 'base64url')
        const text = bytes.toString()
        const spelled = (other: string) => Buffer.from(other).toString('base64url')
        const others = [
          ...[`${token}=`, `${token}==`, `${token}A`, `A${token}`, ` ${token}`, `${token}\n`],
          bytes.toString('base64'),
          ...[spelled(` ${text}`), spelled(text.replace(',', ', ')), spelled(text.replace('?', '\\u003f'))],
          Buffer.concat([bytes, Buffer.from([0xff])]).toString('base64url'),
          ...[...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/'].map(
            (last) => token.slice(0, -1) + last,
          ),
        ].filter((other) => other !== token)
        for (const pageToken of others)
          expect(
            await rejection(specimens.list({ ...list, pageToken }), InvalidArgument),
            pageToken,
          ).to.include({ field: 'page_token' })
      }))

    for (const pageToken of ['MQ', 'MQ==', 'MTA=', 'MTA', 'MTAw'])
      it(`accepts ${pageToken} as an offset`, () =>
        inAcme(async () => {
          expect((await holder.subject.specimens.list({ pageToken })).items).to.deep.equal([])
        }))

    for (const pageToken of ['MQ=', 'MR==', 'MR', 'MTB=', 'MTB', 'MTAw=', 'MTAw==', 'MDE=', 'LTE='])
      it(`rejects ${pageToken} as an offset`, () =>
        inAcme(async () => {
          expect(await rejection(holder.subject.specimens.list({ pageToken }), InvalidArgument)).to.include({
            field: 'page_token',
          })
        }))

    it('keeps its kind, whatever kind the repository returns', () =>
      inAcme(async () => {
        const keyset = holder.subject.specimens
        const offset = holder.subject.withOptions({ ...subjectOptions, paging: 'offset' }).specimens
        const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
        for (const id of ids) await keyset.create(draft({ id }))
        const isApart = (await offset.list()).items.length === 0
        for (const id of isApart ? ids : []) await offset.create(draft({ id }))
        for (const [first, then] of [
          [keyset, offset],
          [offset, keyset],
          [offset, offset],
        ] as const) {
          const page = await first.list({ pageSize: 2 })
          const seen = page.items.map(({ id }) => id)
          let { nextPageToken: pageToken } = page
          while (pageToken !== '' && seen.length < 20) {
            const next = await then.list({ pageSize: 2, pageToken })
            seen.push(...next.items.map(({ id }) => id))
            pageToken = next.nextPageToken
          }
          expect(seen).to.deep.equal(ids)
        }
      }))
  })

  describe('text without a bound', () => {
    /** Alike in their first 512 characters, and different in the 512th. */
    const notes = (letter: string) => {
      const same = letter.repeat(512)
      return {
        ...{ f: `${same}z`, e: `${same}a`, d: same, c: `${same}m${'y'.repeat(100_000)}` },
        ...{ b: `${letter.repeat(511)}!`, a: `${letter.repeat(511)}\u{10ffff}`, g: letter.repeat(511) },
        h: `${letter.repeat(511)}\uffee`,
      }
    }
    for (const letter of ['x', 'é', '漢', '😀', '\u0001'])
      for (const direction of ['asc', 'desc'] as const)
        it(`is ordered by its first 512 characters ${JSON.stringify(letter)}, then the key, ${direction}`, () =>
          inAcme(async () => {
            const { specimens } = holder.subject
            for (const [id, note] of Object.entries(notes(letter)))
              await specimens.create(draft({ id, note }))
            const [low, high] = letter === '\u0001' ? ['', 'bha'] : ['b', letter === '😀' ? 'a' : 'ha']
            const between = letter === '😀' ? 'h' : ''
            const ascending = ['g', ...low, ...between, ...'cdef', ...high]
            const expected = direction === 'asc' ? ascending : ascending.reverse()
            for (const pageSize of [1, 2, 3, 100]) {
              const seen: string[] = []
              let pageToken = ''
              do {
                const page = await specimens.list({ orderBy: `note ${direction}`, pageSize, pageToken })
                seen.push(...page.items.map(({ id }) => id))
                pageToken = page.nextPageToken
                expect(pageToken.length).to.be.lessThan(5000)
              } while (pageToken !== '' && seen.length < 100)
              expect(seen).to.deep.equal(expected)
            }
          }))

    it('is in the token as far as it counts, and no further', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        for (const id of ['a', 'b']) await specimens.create(draft({ id, note: '😀'.repeat(600) }))
        const { nextPageToken } = await specimens.list({ orderBy: 'note', pageSize: 1 })
        const [values] = JSON.parse(Buffer.from(nextPageToken, 'base64url').toString()) as [unknown[]]
        expect(values).to.deep.equal(['😀'.repeat(512), 'a'])
      }))

    it('is filtered by all of it', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        for (const [id, note] of Object.entries(notes('x'))) await specimens.create(draft({ id, note }))
        const found = async (filter: string) =>
          (await specimens.list({ filter })).items.map(({ id }) => id).join('')
        expect(await found(`note = "${'x'.repeat(512)}"`)).to.equal('d')
        expect(await found(`note > "${'x'.repeat(512)}" note < "${'x'.repeat(512)}n"`)).to.equal('ce')
      }))

    it('sorts bytes by their first 512', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const bytes = (last: number, length = 512) => new Uint8Array(length).fill(last, 511).fill(7, 0, 511)
        const blobs = { d: bytes(1), c: bytes(1, 100_000), b: bytes(255), a: bytes(0, 600), e: bytes(0, 511) }
        for (const [id, blob] of Object.entries(blobs)) await specimens.create(draft({ id, blob }))
        for (const [direction, expected] of [
          ['asc', 'eacdb'],
          ['desc', 'bdcae'],
        ] as const) {
          let seen = ''
          let pageToken = ''
          do {
            const page = await specimens.list({ orderBy: `blob ${direction}`, pageSize: 1, pageToken })
            seen += page.items.map(({ id }) => id).join('')
            pageToken = page.nextPageToken
            expect(pageToken.length).to.be.lessThan(5000)
          } while (pageToken !== '' && seen.length < 20)
          expect(seen).to.equal(expected)
        }
      }))
  })
}
