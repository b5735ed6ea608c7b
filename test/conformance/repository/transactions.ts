import { EventEmitter } from 'node:events'
import { expect } from 'chai'
import { type CallFailure, RequestContext } from '../../../lib/context.js'
import { ErrConflict, PermissionDenied } from '../../../lib/errors.js'
import { draft, type Holder, inAcme, rejection, subjectOptions } from './subject.js'

class Stop extends Error {}

/** Transactions that repository calls join through their context. */
export const transactions = (holder: Holder): void => {
  const ids = async () => (await holder.subject.specimens.list()).items.map(({ id }) => id)
  const make = (id: string, code = id) => holder.subject.specimens.create(draft({ id, code }))

  describe('transaction', () => {
    it('keeps what was written when its function resolves', () =>
      inAcme(async () => {
        const answer = await holder.subject.specimens.transaction(async () => {
          await make('a')
          return (await make('b')).id
        })
        expect(answer).to.equal('b')
        expect(await ids()).to.deep.equal(['a', 'b'])
      }))

    it('takes everything back when its function throws', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('a')
        const failing = specimens.transaction(async () => {
          await make('b')
          await specimens.update('a', { title: 'changed' }, ['title'])
          await specimens.delete('a')
          throw new Stop()
        })
        await rejection(failing, Stop)
        expect(await ids()).to.deep.equal(['a'])
        expect((await specimens.get('a')).title).to.equal('Granite')
      }))

    it('rejects, and does not throw, for a caller without a tenant', () =>
      rejection(
        holder.subject.specimens.transaction(() => Promise.resolve()),
        PermissionDenied,
      ))

    it('a caught conflict leaves it usable', () =>
      inAcme(async () => {
        await holder.subject.specimens.transaction(async () => {
          await make('a')
          await rejection(make('b', 'a'), ErrConflict)
          await make('c')
        })
        expect(await ids()).to.deep.equal(['a', 'c'])
      }))

    it('a nested one is a savepoint', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await specimens.transaction(async () => {
          await make('a')
          const nested = specimens.transaction(async () => {
            await make('b')
            throw new Stop()
          })
          await rejection(nested, Stop)
          await specimens.transaction(() => make('c'))
        })
        expect(await ids()).to.deep.equal(['a', 'c'])
      }))

    it("another caller's write that succeeded survives a rollback beside it", () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        let beside: Promise<unknown> = Promise.resolve()
        let leave: () => void = () => {}
        const started = new Promise<void>((resolve) => {
          const failing = specimens.transaction(async () => {
            await make('inside')
            resolve()
            await new Promise<void>((go) => (leave = go))
            throw new Stop()
          })
          beside = rejection(failing, Stop)
        })
        await started
        const outside = make('outside')
        leave()
        await Promise.all([beside, outside])
        expect(await ids()).to.deep.equal(['outside'])
      }))

    it('a write beside a nested one that fails is not taken back with it', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await specimens.transaction(async () => {
          let leave: () => void = () => {}
          let failing: Promise<unknown> = Promise.resolve()
          await new Promise<void>((started) => {
            const nested = specimens.transaction(async () => {
              await make('inside')
              await new Promise<void>((go) => {
                leave = go
                started()
              })
              throw new Stop()
            })
            failing = rejection(nested, Stop)
          })
          const beside = make('beside')
          leave()
          await Promise.all([failing, beside])
        })
        expect(await ids()).to.deep.equal(['beside'])
      }))

    it('nested ones that start together run one after another, and one that fails takes back its own part', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await specimens.transaction(async () => {
          let running = 0
          const nested = (id: string, isFailing: boolean) =>
            specimens.transaction(async () => {
              expect(++running).to.equal(1)
              await make(id)
              await new Promise((resolve) => setTimeout(resolve, 5))
              running--
              if (isFailing) throw new Stop()
            })
          await Promise.all([
            rejection(nested('a', true), Stop),
            nested('b', false),
            rejection(nested('c', true), Stop),
            make('d'),
            nested('e', false),
          ])
        })
        expect(await ids()).to.deep.equal(['b', 'd', 'e'])
      }))

    it('an atomic batch inside of one is taken back with it', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('a')
        const failing = specimens.transaction(async () => {
          await specimens.batchUpdate([{ key: 'a', entity: { title: 'x' }, fieldMask: ['title'] }])
          await specimens.batchDelete(['a'])
          throw new Stop()
        })
        await rejection(failing, Stop)
        expect((await specimens.get('a')).title).to.equal('Granite')
      }))

    it('a call in the context of an ended one is refused', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        let later: () => Promise<unknown> = () => Promise.resolve()
        await specimens.transaction(async (context) => {
          later = () => specimens.create(draft({ id: 'late' }), { context })
          await make('a')
        })
        await rejection(later(), TypeError, 'ended')
        expect(await ids()).to.deep.equal(['a'])
      }))

    describe('is joined by a call inside of it', () => {
      const stays = async (work: (context: RequestContext) => Promise<unknown>) => {
        const { specimens } = holder.subject
        const failing = specimens.transaction(async (context) => {
          await work(context)
          throw new Stop()
        })
        await rejection(failing, Stop)
        return ids()
      }

      it('that is given the context from before', () =>
        inAcme(async () => {
          const context = RequestContext.current()
          expect(
            await stays(() => holder.subject.specimens.create(draft({ id: 'a' }), { context })),
          ).to.deep.equal([])
        }))

      it('that runs as the system, or as another principal of the call', () =>
        inAcme(async () => {
          const left = await stays(async () => {
            await RequestContext.asSystem({ tenant: 'acme', reason: 'a test' }, () => make('a'))
            await RequestContext.as({ subject: 'bob', tenant: 'acme' }, () => make('b'))
          })
          expect(left).to.deep.equal([])
        }))

      it('in a timer, an emitter, and a generator that is made and read inside', () =>
        inAcme(async () => {
          const left = await stays(async () => {
            await new Promise((resolve, reject) => setTimeout(() => void make('a').then(resolve, reject), 1))
            const emitter = new EventEmitter()
            let heard: Promise<unknown> = Promise.resolve()
            emitter.on('made', () => void (heard = make('b')))
            emitter.emit('made')
            await heard
            const each = async function* () {
              yield await make('c')
              yield await make('d')
            }
            for await (const specimen of each()) expect(specimen.id).to.be.a('string')
          })
          expect(left).to.deep.equal([])
        }))

      it('unless it is detached', () =>
        inAcme(async () => {
          let beside: Promise<unknown> = Promise.resolve()
          const left = await stays(async () => {
            await make('a')
            // On SQLite and in memory it waits for the transaction to end.
            beside = RequestContext.detached(() => make('b'))
          })
          expect(left).to.not.include('a')
          await beside
          expect(await ids()).to.deep.equal(['b'])
        }))

      it('but not with the context of another call', () =>
        inAcme(async () => {
          const { principal } = RequestContext.current()
          const context = new RequestContext({ principal })
          await holder.subject.specimens.transaction(async () => {
            await rejection(
              holder.subject.specimens.create(draft({ id: 'a' }), { context }),
              TypeError,
              'of another call',
            )
            await make('b')
          })
          expect(await ids()).to.deep.equal(['b'])
        }))
    })

    describe('whose function returns before its calls are through', () => {
      it('rolls back and names them', () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          const loose: Promise<unknown>[] = []
          const failing = specimens.transaction(async () => {
            await make('a')
            loose.push(make('b'), specimens.update('a', { title: 'changed' }, ['title']))
          })
          const { message } = await rejection(failing, TypeError, 'did not await')
          expect(message).to.include('Specimen.create, Specimen.update')
          await Promise.allSettled(loose)
          expect(await ids()).to.deep.equal([])
        }))

      it('names a transaction inside', () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          const failing = specimens.transaction(() => {
            void specimens.transaction(() => make('a'))
            return Promise.resolve()
          })
          await rejection(failing, TypeError, 'did not await a transaction')
          expect(await ids()).to.deep.equal([])
        }))

      it('rejects what comes later, and logs it', () =>
        inAcme(async () => {
          const failures: CallFailure[] = []
          const context = RequestContext.current().with({ onFailure: (failure) => failures.push(failure) })
          let later: Promise<unknown> = Promise.resolve()
          let go: () => void = () => {}
          await holder.subject.specimens.transaction(
            async () => {
              await make('a')
              later = new Promise<void>((resolve) => (go = resolve)).then(() => make('b'))
            },
            { context },
          )
          go()
          await rejection(later, TypeError, 'has ended')
          expect(failures.map(({ message }) => message)).to.deep.equal([
            'a call came after its transaction had ended',
          ])
          expect(await ids()).to.deep.equal(['a'])
        }))
    })

    describe('with readOnly', () => {
      it('reads, and refuses writes, in a savepoint as well', () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          await make('a')
          await specimens.transaction(
            async () => {
              expect(await ids()).to.deep.equal(['a'])
              await rejection(make('b'), TypeError, 'Specimen.create inside of a transaction with readOnly')
              await specimens.transaction(() => rejection(specimens.delete('a'), TypeError, 'readOnly'))
            },
            { readOnly: true },
          )
          await make('c')
          expect(await ids()).to.deep.equal(['a', 'c'])
        }))

      it('and isolation are refused where the transaction is nested', () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          await specimens.transaction(async () => {
            await rejection(
              specimens.transaction(() => ids(), { readOnly: true }),
              TypeError,
              'outermost transaction',
            )
            await rejection(
              specimens.transaction(() => ids(), { isolation: 'serializable' }),
              TypeError,
              'outermost transaction',
            )
          })
        }))
    })

    it('is isolated as it asks: two that read before they write do not both keep what they wrote', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const count = async (id: string) =>
          specimens.transaction(
            async () => {
              const { length } = (await specimens.list()).items
              await new Promise((resolve) => setTimeout(resolve, 20))
              return specimens.create(draft({ id, code: `${length}` }))
            },
            { isolation: 'serializable', retries: 10 },
          )
        await Promise.all([count('a'), count('b'), count('c')])
        const codes = (await specimens.list()).items.map(({ code }) => code)
        expect(codes.sort()).to.deep.equal(['0', '1', '2'])
      }))

    describe('afterCommit', () => {
      it('runs when the outermost transaction has committed, outside of it', () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          const seen: unknown[] = []
          const note = (word: string) => async () => {
            seen.push([word, RequestContext.current().transaction, (await specimens.list()).items.length])
          }
          await specimens.transaction(async ({ afterCommit }) => {
            await make('a')
            afterCommit(note('outer'))
            await specimens.transaction(async (inner) => {
              await make('b')
              inner.afterCommit(note('inner'))
            })
            RequestContext.current().afterCommit(note('current'))
            expect(seen).to.deep.equal([])
          })
          expect(seen).to.deep.equal([
            ['outer', undefined, 2],
            ['inner', undefined, 2],
            ['current', undefined, 2],
          ])
        }))

      it('writes what the transaction around that of another database writes as well', () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          const others = holder.subject.withOptions(subjectOptions).specimens
          await specimens.transaction(async () => {
            await make('a')
            await others.transaction(async ({ afterCommit }) => afterCommit(() => make('b')))
          })
          expect(await ids()).to.deep.equal(['a', 'b'])
        }))

      it('runs at once where there is no transaction', () =>
        inAcme(async () => {
          const seen: string[] = []
          RequestContext.current().afterCommit(() => seen.push('ran'))
          expect(seen).to.deep.equal(['ran'])
        }))

      it('is forgotten when its transaction or its savepoint is rolled back', () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          const seen: string[] = []
          const failing = specimens.transaction(async ({ afterCommit }) => {
            afterCommit(() => seen.push('rolled back'))
            throw new Stop()
          })
          await rejection(failing, Stop)
          await specimens.transaction(async ({ afterCommit }) => {
            const nested = specimens.transaction(async (inner) => {
              inner.afterCommit(() => seen.push('savepoint'))
              throw new Stop()
            })
            await rejection(nested, Stop)
            afterCommit(() => seen.push('kept'))
          })
          expect(seen).to.deep.equal(['kept'])
        }))

      it('fails without failing the transaction, and is logged', () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          const failures: CallFailure[] = []
          const context = RequestContext.current().with({ onFailure: (failure) => failures.push(failure) })
          const seen: string[] = []
          const answer = await specimens.transaction(
            async ({ afterCommit }) => {
              afterCommit(() => {
                throw new Stop('thrown')
              })
              afterCommit(() => Promise.reject(new Stop('rejected')))
              afterCommit(() => seen.push('third'))
              return (await make('a')).id
            },
            { context },
          )
          expect(answer).to.equal('a')
          expect(seen).to.deep.equal(['third'])
          expect(failures.map(({ error }) => (error as Error).message)).to.deep.equal(['thrown', 'rejected'])
        }))
    })
  })
}
