import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { planList } from '../../../lib/persistence/contract/list-plan.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { scopeOf } from '../../../lib/persistence/contract/scope.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { Note } from '../../support/entities/specimen.js'

describe('the page size of a list', () => {
  const model = resourceModel(Note)

  for (const [asked, expected] of [
    [undefined, 50],
    [0, 50],
    [1, 1],
    [50, 50],
    [999, 999],
    [1_000, 1_000],
    [1_001, 1_000],
    [2_147_483_647, 1_000],
  ] as const)
    it(`is ${expected} where ${asked} is asked for`, () => {
      const list = asked === undefined ? {} : { pageSize: asked }
      const scope = scopeOf(model, { context: RequestContext.current() })
      expect(planList(model, list, scope, {}).size).to.equal(expected)
    })

  it('is what a page holds: 1,001 rows are two pages, however many are asked for', async () => {
    const notes = new MemoryRepository(Note)
    for (let n = 0; n < 1_001; n++) await notes.create({ name: `notes/${n}`, text: '', stars: 0 })
    const first = await notes.list({ pageSize: 5_000 })
    expect(first.items).to.have.length(1_000)
    const second = await notes.list({ pageSize: 5_000, pageToken: first.nextPageToken })
    expect(second.items).to.have.length(1)
    expect(second.nextPageToken).to.equal('')
  })
})
