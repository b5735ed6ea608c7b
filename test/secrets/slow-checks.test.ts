import { expect } from 'chai'
import { setImmediate as turn } from 'node:timers/promises'
import { Cancelled, Unavailable } from '../../lib/errors.js'
import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import { derivations } from '../../lib/secrets/hash-spec.js'
import { SlowChecks } from '../../lib/secrets/slow-checks.js'
import { hashWork } from './hash-work.js'

const ITERATIONS = 100

describe('checks that wait for slow hashes', () => {
  const minter = new CredentialMinter({ spec: { algo: `pbkdf2-sha256:${ITERATIONS}:32` } })
  const fast = new CredentialMinter()
  const mint = async (with_ = minter) => {
    const { token, stored } = await with_.mint()
    return { ...minter.parse(token), stored }
  }

  /** Runs it while nobody gets a turn. It returns what waits. */
  const whileBusy = async <T>(fn: () => Promise<readonly Promise<T>[]>): Promise<readonly T[]> => {
    let end = (): void => {}
    const busy = new Promise<void>((resolve) => (end = resolve))
    const turns = [derivations(() => busy), derivations(() => busy)]
    const waiting = await fn().finally(end)
    await Promise.all(turns)
    return Promise.all(waiting)
  }
  const outcome = (check: Promise<boolean>) => check.catch((error: unknown) => (error as Error).name)
  const strangers = (count: number) =>
    Array.from({ length: count }, (_, n) => outcome(minter.verifyUnknown('x', { publicId: `made-up-${n}` })))

  it('are at most 100, and what they will come to is in no way told by that', async () => {
    const [known, quick] = [await mint(), await mint(fast)]
    await minter.verify(quick.secret, quick.stored)
    for (const [others, expected] of [
      [99, false],
      [100, Unavailable.name],
    ] as const)
      for (const ask of [
        () => minter.verifyUnknown('wrong', { publicId: 'made-up' }),
        () => minter.verify('wrong', known.stored),
        () => minter.verify('wrong', quick.stored),
      ]) {
        const told = await whileBusy(async () => {
          const waiting = strangers(others)
          await turn()
          return [...waiting, outcome(ask())]
        })
        expect([told.at(-1), new Set(told.slice(0, -1))]).to.deep.equal([expected, new Set([false])])
      }
  })

  it('are at most 4 of one public id, known or not, and others go on', async () => {
    const [known, friend] = [await mint(), await mint()]
    const guess = (n: number): readonly Promise<unknown>[] => [
      outcome(minter.verify(`wrong-${n}`, known.stored)),
      outcome(minter.verifyUnknown(`wrong-${n}`, { publicId: 'made-up' })),
    ]
    const told = await whileBusy(() =>
      Promise.resolve([
        ...Array.from({ length: 200 }, (_, n) => guess(n)).flat(),
        outcome(minter.verify(friend.secret, friend.stored)),
      ]),
    )
    expect(told.at(-1)).to.equal(true)
    expect(told.filter((one) => one === false)).to.have.length(8)
    expect(told.filter((one) => one === Unavailable.name)).to.have.length(392)
    expect(await minter.verify(known.secret, known.stored)).to.equal(true)
  })

  it('do not keep out whose secret was right a moment ago, and hold for what is stored now alone', async () => {
    const known = await mint()
    const wrong = (n: number) => outcome(minter.verify(`wrong-${n}`, known.stored))
    const right = (stored = known.stored) => outcome(minter.verify(known.secret, stored))
    const flood = () => [wrong(1), wrong(2), wrong(3), wrong(4), wrong(5)]
    const first = await whileBusy(() => Promise.resolve([...flood(), right()]))
    expect(first).to.deep.equal([false, false, false, false, Unavailable.name, Unavailable.name])
    expect(await right()).to.equal(true)
    const rotated = { ...(await mint()).stored, publicId: known.stored.publicId }
    const told = await whileBusy(() => Promise.resolve([...flood(), right(), right(rotated)]))
    expect(told.slice(4)).to.deep.equal([Unavailable.name, true, Unavailable.name])
    expect(await right(rotated)).to.equal(false)
    const { iterations } = await hashWork(() => right())
    expect(iterations).to.equal(0)
  })

  it('are known for 30 seconds from their last use, when they were right, and at most 10,000 of them', async () => {
    let now = 0
    let done = 0
    const checks = new SlowChecks(() => now)
    const run = (publicId: string, isRight = true) =>
      checks.run({ publicId, secret: 's', hash: 'h' }, () => Promise.resolve((done++, isRight)), undefined)
    const isKnown = async (publicId: string, isRight = true) => {
      const before = done
      await run(publicId, isRight)
      return done === before
    }
    await run('one')
    for (const [at, expected] of [
      [29_999, true],
      [59_998, true],
      [89_998, false],
      [89_999, true],
    ] as const) {
      now = at
      expect(await isKnown('one'), String(at)).to.equal(expected)
    }
    expect([await isKnown('two', false), await isKnown('two', false)]).to.deep.equal([false, false])
    for (let n = 0; n < 10_000; n++) await run(`other-${n}`)
    expect([await isKnown('other-0'), await isKnown('one')]).to.deep.equal([true, false])
  })

  it('are done once for all who ask for the same one meanwhile', async () => {
    const known = await mint()
    const ask = (secret: string) =>
      Array.from({ length: 500 }, () => outcome(minter.verify(secret, known.stored)))
    const { iterations } = await hashWork(async () => {
      const told = await whileBusy(() => Promise.resolve([...ask(known.secret), ...ask('wrong')]))
      expect(told.map((one) => one === true)).to.deep.equal(told.map((_, at) => at < 500))
    })
    expect(iterations).to.equal(2 * ITERATIONS)
  })

  it('end for who gives up, and are not begun when all have', async () => {
    const { stored, secret } = await mint()
    const [first, second, alone] = [1, 2, 3].map(() => new AbortController()) as [
      AbortController,
      AbortController,
      AbortController,
    ]
    const ask = (given: string, { signal }: AbortController) =>
      outcome(minter.verify(given, stored, { signal }))
    const { iterations } = await hashWork(async () => {
      const told = await whileBusy(async () => {
        const waiting = [ask(secret, first), ask(secret, second), ask('wrong', alone)]
        first.abort()
        alone.abort()
        await Promise.resolve()
        return [...waiting, outcome(minter.verify('wrong', stored))]
      })
      expect(told).to.deep.equal([Cancelled.name, true, Cancelled.name, false])
    })
    expect(iterations).to.equal(2 * ITERATIONS)
  })
})
