import { expect } from 'chai'
import { progressLines } from '../../../cli/migrate/lines/progress-lines.js'
import { paintFor } from '../../../cli/output/paint.js'

describe('the progress of a backfill', () => {
  const line = (walked: number, of: number | undefined) =>
    progressLines(paintFor({}))({
      ...{ kind: 'filled', version: '0003_fill', rows: walked, earlier: 0, chunk: 100, pauseMs: 0 },
      ...{ walked, of, rate: 11_048, ms: 5_000 },
    })

  it('keeps number and unit together', () => {
    expect(line(55_000, 200_000)).to.deep.equal(['  55000 of about 200000 rows (27 %), 11048 a second'])
  })

  it('has no percentage where the server has not counted, or counted less', () => {
    for (const of of [undefined, 0, 50_000])
      expect(line(55_000, of)).to.deep.equal(['  55000 rows, 11048 a second'])
  })
})
