import { expect } from 'chai'
import { type Observed, SerialRow } from './serial-model.js'

const FIRST: Observed = { etag: 'e0', title: 'first', size: 0 }
const row = (values: Partial<Observed>) => ({ ...FIRST, ...values })
const returns = (values: Partial<Observed>) => () => Promise.resolve(row(values))

describe('the serial model of a row', () => {
  let model: SerialRow
  beforeEach(() => {
    model = new SerialRow('acme a', FIRST)
  })
  const update = (title: string, etag: string, required?: string) =>
    model.write({ kind: 'update', title, required }, returns({ title, etag }))
  const add = (size: number, etag: string, title = 'first') =>
    model.write({ kind: 'increment' }, returns({ size, etag, title }))

  for (const [title, etag] of Object.entries({ b: 'e3', c: 'e4' }))
    it(`agrees with writes that follow one another, and with two that overlap, of which ${title} is last`, async () => {
      await update('a', 'e1', 'e0')
      await add(1, 'e2', 'a')
      await Promise.all([update('b', 'e3'), update('c', 'e4')])
      expect(() => model.check(row({ title, etag, size: 1 }))).not.to.throw()
    })

  const lies: Readonly<
    Record<string, readonly [lie: () => Promise<unknown>, last: Partial<Observed>, told: string]>
  > = {
    'an update that is lost': [() => update('a', 'e1'), {}, 'seen after another write had replaced it'],
    'two writes of one version': [
      () => Promise.all([update('a', 'e1', 'e0'), update('b', 'e2', 'e0')]),
      { title: 'b', etag: 'e2' },
      'two writes changed the same version',
    ],
    'an increment that is lost': [
      () => Promise.all([add(1, 'e1'), add(1, 'e2')]),
      { size: 1, etag: 'e2' },
      'what increments returned',
    ],
    'a sum that is not what increments add up to': [() => add(1, 'e1'), { size: 2, etag: 'e1' }, 'the size'],
    'an etag of nobody': [
      () => update('a', 'e1'),
      { title: 'a', etag: 'e9' },
      'of no write that was acknowledged',
    ],
    'an etag that two writes have': [
      () => Promise.all([update('a', 'e1'), update('b', 'e1')]),
      { title: 'b', etag: 'e1' },
      'an etag is made twice',
    ],
    'a title of nobody': [() => add(1, 'e1'), { title: 'z', etag: 'e1', size: 1 }, 'was written by nobody'],
    'a read of what was replaced': [
      async () => {
        await update('a', 'e1')
        await update('b', 'e2')
        await model.read(returns({ title: 'a', etag: 'e1' }))
      },
      { title: 'b', etag: 'e2' },
      'seen after another write had replaced it',
    ],
    'a delete that nobody took back': [
      () => model.write({ kind: 'delete' }, () => Promise.resolve()),
      {},
      'deletes',
    ],
  }
  for (const [name, [lie, last, told]] of Object.entries(lies))
    it(`does not agree with ${name}`, async () => {
      await lie()
      expect(() => model.check(row(last))).to.throw(told)
    })
})
