import { mock } from 'node:test'
import { expect } from 'chai'
import { Caller } from '../../../../lib/call.js'
import { RequestContext } from '../../../../lib/context.js'
import { AshlarError, DeadlineExceeded, Unavailable } from '../../../../lib/errors.js'
import { Turns } from '../../../../lib/persistence/engines/executor/turns.js'
import { Deadline } from '../../../../lib/server/chain/deadline.js'
import { openSubject } from '../../../conformance/repository/open-subject.js'
import { backends, describeOn } from '../../../support/databases/backends.js'
import { rejection } from '../../../support/rejection.js'

const LIMIT_MS = 1000

describe('turns on a connection', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }))
  afterEach(() => mock.timers.reset())

  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 10) mock.timers.tick(10)
  }
  /** The caller's turn, or why it got none. */
  const outcomeOf = (turns: Turns, isAlone = true) => {
    const caller = { outcome: 'waits' }
    Promise.resolve(turns.enter(isAlone)).then(
      () => (caller.outcome = 'has its turn'),
      (error: unknown) => (caller.outcome = error instanceof Unavailable ? 'refused' : String(error)),
    )
    return caller
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve))

  it('are waited for as long as others end theirs, however many come before', async () => {
    const turns = new Turns(LIMIT_MS, 2)
    const callers = Array.from({ length: 10 }, (_, at) => outcomeOf(turns, at % 3 > 0))
    for (const at of callers.keys()) {
      pass(LIMIT_MS - 10)
      await settled()
      expect(callers[at]?.outcome).to.equal('has its turn')
      turns.leave()
    }
  })

  it('are refused where none has ended for the whole time', async () => {
    const turns = new Turns(LIMIT_MS, 2)
    expect(turns.enter(true)).to.equal(undefined)
    const waiting = [outcomeOf(turns), outcomeOf(turns, false)]
    pass(LIMIT_MS / 2)
    const late = outcomeOf(turns)
    // A quarter at most is not counted.
    pass(LIMIT_MS * 0.75)
    await settled()
    expect([...waiting, late].map(({ outcome }) => outcome)).to.deep.equal(['refused', 'refused', 'waits'])
    turns.leave()
    await settled()
    expect(late.outcome).to.equal('has its turn')
    const last = rejection(turns.enter(true) as Promise<void>, Unavailable)
    pass(2 * LIMIT_MS)
    await last
  })

  it('are not refused because the process stood still', async () => {
    const turns = new Turns(LIMIT_MS, 2)
    expect(turns.enter(true)).to.equal(undefined)
    const waiting = outcomeOf(turns)
    for (let times = 0; times < 3; times++) mock.timers.tick(100 * LIMIT_MS)
    await settled()
    expect(waiting.outcome).to.equal('waits')
    turns.leave()
    await settled()
    expect(waiting.outcome).to.equal('has its turn')
  })

  describe('of several tenants', () => {
    const of = (tenant: string, isSystem = false) =>
      ({ tenant, system: isSystem ? { reason: 'check' } : undefined }) as unknown as RequestContext
    /** Turns whose only one is taken, and a function that waits for one, notes its name and leaves. */
    const busy = () => {
      const turns = new Turns(LIMIT_MS, 1)
      expect(turns.enter(false)).to.equal(undefined)
      const admitted: string[] = []
      const ask = async (name: string, tenant: string, signal?: AbortSignal) => {
        await turns.enter(false, signal, of(tenant))
        admitted.push(name)
        turns.leave()
      }
      return { turns, admitted, ask }
    }
    /** Returns the order in which callers of these tenants get a turn. */
    const order = async (...tenants: readonly string[]) => {
      const turns = new Turns(LIMIT_MS, 1)
      expect(turns.enter(false)).to.equal(undefined)
      const admitted: string[] = []
      const all = tenants.map(async (tenant) => {
        await turns.enter(false, undefined, of(tenant))
        admitted.push(tenant)
        turns.leave()
      })
      turns.leave()
      await Promise.all(all)
      return admitted.join('')
    }

    it('are granted to one tenant after the other, and in order within each', async () => {
      expect(await order(...'aaaab')).to.equal('abaaa')
      expect(await order(...'aaabbbc')).to.equal('abcabab')
      expect(await order(...'abc')).to.equal('abc')
    })

    it('are granted to a tenant that comes later, but not before all others again and again', async () => {
      const turns = new Turns(LIMIT_MS, 1)
      expect(turns.enter(false)).to.equal(undefined)
      const admitted: string[] = []
      const ask = async (tenant: string): Promise<void> => {
        await turns.enter(false, undefined, of(tenant))
        admitted.push(tenant)
        // A new tenant comes with each turn.
        if (admitted.length < 6) all.push(ask(`new ${admitted.length}`))
        turns.leave()
      }
      const all = [ask('a'), ask('a'), ask('a')]
      turns.leave()
      while (all.length > 0) await all.shift()
      expect(admitted).to.deep.equal(['a', 'a', 'new 1', 'a', 'new 2', 'new 3', 'new 4', 'new 5'])
    })

    it('count system calls as calls without a tenant', async () => {
      const turns = new Turns(LIMIT_MS, 1)
      expect(turns.enter(false)).to.equal(undefined)
      const admitted: string[] = []
      const ask = async (name: string, context: RequestContext) => {
        await turns.enter(false, undefined, context)
        admitted.push(name)
        turns.leave()
      }
      const all = [ask('system', of('a', true)), ask('system', of('b', true)), ask('a', of('a'))]
      turns.leave()
      await Promise.all(all)
      expect(admitted).to.deep.equal(['system', 'a', 'system'])
    })

    it('are not held up by callers that have gone', async () => {
      const turns = new Turns(LIMIT_MS, 1)
      expect(turns.enter(false)).to.equal(undefined)
      const end = new AbortController()
      const gone = [1, 2, 3].map(() =>
        rejection(turns.enter(false, end.signal, of('a')) as Promise<void>, AshlarError),
      )
      const stays = turns.enter(false, undefined, of('a'))
      end.abort()
      await Promise.all(gone)
      turns.leave()
      await stays
    })

    it('are lost by no other caller when one ends that waits for two', async () => {
      const turns = new Turns(LIMIT_MS, 2)
      expect(turns.enter(false)).to.equal(undefined)
      const end = new Deadline(undefined, new Caller())
      const first = rejection(turns.enter(true, end, of('a')) as Promise<void>, AshlarError)
      const second = turns.enter(false, end, of('b'))
      const others = ['c', 'd'].map(async (tenant) => {
        await turns.enter(true, undefined, of(tenant))
        turns.leave()
      })
      // The first one leaves, so the second one gets its turn while the end of the call is reported.
      end.end(new Unavailable('the server stops'))
      await first
      await second
      turns.leave()
      turns.leave()
      await Promise.all(others)
      expect(turns.enter(true)).to.equal(undefined)
    })

    it('come in the same order however many callers of a tenant have gone', async () => {
      const { turns, admitted, ask } = busy()
      const end = new AbortController()
      const all = [ask('old', 'many')]
      const gone = [ask('gone', 'many', end.signal), ask('never', 'many', AbortSignal.abort())]
      end.abort()
      for (const error of await Promise.allSettled(gone)) expect(error.status).to.equal('rejected')
      all.push(ask('new', 'many'), ask('one', 'one'))
      turns.leave()
      await Promise.all(all)
      expect(admitted).to.deep.equal(['old', 'one', 'new'])
    })

    it('are granted soon to a caller whose predecessors have gone', async () => {
      const { turns, admitted, ask } = busy()
      const end = new AbortController()
      const gone = Array.from({ length: 10 }, () => ask('gone', 'a', end.signal))
      const all = [ask('a', 'a'), ...Array.from({ length: 5 }, () => ask('b', 'b'))]
      end.abort()
      await Promise.allSettled(gone)
      turns.leave()
      await Promise.all(all)
      expect(admitted.indexOf('a')).to.be.at.most(1)
    })

    it('are refused to a caller whose time passes while it begins to wait', async () => {
      const turns = new Turns(LIMIT_MS, 1)
      expect(turns.enter(false)).to.equal(undefined)
      let asked = 0
      const end = {
        get aborted() {
          return asked++ > 0
        },
        reason: new DeadlineExceeded(),
        addEventListener: () => undefined,
        removeEventListener: () => undefined,
      }
      expect(end.aborted).to.equal(false)
      await rejection(turns.enter(false, end, of('a')) as Promise<void>, DeadlineExceeded)
    })

    it('are granted to all who wait when the database is closed', async () => {
      const turns = new Turns(LIMIT_MS, 1)
      expect(turns.enter(false)).to.equal(undefined)
      const admitted: string[] = []
      const note = async (name: string, turn: Promise<void> | undefined) => {
        await turn
        admitted.push(name)
        turns.leave()
      }
      const all = [
        ...['a', 'a', 'a'].map((tenant) => note(tenant, turns.enter(false, undefined, of(tenant)))),
        turns.close().then(() => admitted.push('closed')),
      ]
      turns.leave()
      await Promise.all(all)
      expect(admitted).to.deep.equal(['a', 'a', 'a', 'closed'])
      await rejection(turns.enter(false) as Promise<void>, Unavailable, 'closed')
    })
  })
})

const ofOneConnection = backends.filter(({ name }) => name === 'memory' || name.includes('sqlite'))

describeOn('the calls of several tenants on one connection', ofOneConnection, (backend) => {
  it('take turns', async () => {
    const { specimens, close } = await openSubject(backend)
    try {
      const finished: string[] = []
      const call = (tenant: string) =>
        RequestContext.as({ tenant, subject: 'ada' }, async () => {
          await specimens.transaction(() => specimens.count())
          finished.push(tenant)
        })
      await Promise.all([...Array.from({ length: 20 }, () => call('many')), call('one')])
      expect(finished.indexOf('one')).to.be.at.most(2)
      expect(finished).to.have.lengthOf(21)
    } finally {
      await close()
    }
  })
})
