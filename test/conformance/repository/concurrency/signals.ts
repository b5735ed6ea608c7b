import { expect } from 'chai'
import { RequestContext } from '../../../../lib/context.js'
import { draft, type Holder } from '../subject.js'

/**
 * The context of a call makes its signal when it is first asked, which costs as much as the rest of a small
 * write.
 */
export const signals = (holder: Holder): void => {
  describe('the signal of a call', () => {
    const timesAsked = async (fn: (options: { context: RequestContext }) => Promise<unknown>) => {
      const { signal } = new AbortController()
      let times = 0
      const end = {
        aborted: false,
        addEventListener: () => {},
        removeEventListener: () => {},
        get signal() {
          times++
          return signal
        },
      }
      const principal = { tenant: 'acme', subject: 'ada', groups: [], scopes: [] }
      await fn({ context: new RequestContext({ principal, signal: end }) })
      return times
    }

    it('is not asked for by a write that protects nothing', async () => {
      const { specimens, notes } = holder.subject
      expect(await timesAsked((options) => notes.create({ name: 'notes/1', text: '' }, options))).to.equal(0)
      expect(await timesAsked((options) => specimens.create(draft({ id: 'a' }), options))).to.be.above(0)
      for (const [entity, mask, most] of [
        [{ title: 'Basalt' }, 'title', 0],
        [{ webhookSecret: 's' }, 'webhook_secret', Number.POSITIVE_INFINITY],
      ] as const) {
        const times = await timesAsked((options) => specimens.update('a', entity, [mask], options))
        expect(times, mask).to.be.within(Math.min(most, 1), most)
      }
    })
  })
}
