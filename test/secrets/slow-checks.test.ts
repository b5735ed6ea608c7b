import { expect } from 'chai'
import { setImmediate as turn } from 'node:timers/promises'
import { Cancelled, Unavailable } from '../../lib/errors.js'
import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import { derivations } from '../../lib/secrets/hash-spec.js'
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
