import { expect } from 'chai'
import { Unavailable } from '../../lib/errors.js'
import { DriverFault } from '../../lib/faults/driver-fault.js'
import { ReportLimit } from '../../lib/faults/report-limit.js'

describe('a limit on reports', () => {
  let [now, told]: [number, string[]] = [0, []]
  let limit: ReportLimit
  beforeEach(() => {
    ;[now, told] = [0, []]
    limit = new ReportLimit(() => now)
  })
  const tell = (what: string, error?: unknown) => limit.tell(what, error, (more) => told.push(what + more))

  it('lets one report of a cause through in a minute, and then says how many there were', () => {
    for (now = 0; now < 60_000; now += 100) tell('a', new Unavailable('gone'))
    expect(told).to.deep.equal(['a'])
    now = 60_000
    tell('a', new Unavailable('gone'))
    expect(told).to.deep.equal(['a', 'a (599 more since it was last reported)'])
    now = 180_000
    tell('a', new Unavailable('gone'))
    expect(told[2]).to.equal('a')
  })

  it('tells causes apart by what failed, by the error and by its cause', () => {
    const refused = (port: number) => {
      const error = new Error(`connect ECONNREFUSED 127.0.0.1:${port}`)
      return new Unavailable('gone', new DriverFault(Object.assign(error, { code: 'ECONNREFUSED' })))
    }
    for (const [what, error] of [
      ['a', undefined],
      ['b', undefined],
      ['a', new Unavailable('gone')],
      ['a', new TypeError('gone')],
      ['a', refused(1)],
      ['a', 'a text'],
    ] as const)
      tell(what, error)
    expect(told).to.have.length(6)
    for (const error of [new Unavailable('gone'), refused(2), 'a text', undefined]) tell('a', error)
    expect(told).to.have.length(6)
  })

  it('reports what cannot be read', () => {
    const hostile = new Proxy(new Error(), {
      get: () => {
        throw new Error()
      },
    })
    tell('a', hostile)
    tell('a', hostile)
    expect(told).to.deep.equal(['a'])
  })

  it('holds 100 causes and reports all others as one', () => {
    for (let each = 0; each < 10_000; each++) tell('a', new TypeError(`nobody expects ${each}`))
    expect(told).to.have.length(101)
    now = 60_000
    for (let each = 0; each < 10_000; each++) tell('b', new TypeError(`nobody expects ${each}`))
    expect(told).to.have.length(201)
    expect(told.at(-1)).to.equal('b (9899 more since it was last reported)')
  })
})
