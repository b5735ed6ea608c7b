import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { compiled } from './root.js'

/**
 * What a warm call may cost. A feature that is not configured costs no function: decide it when the chain is
 * composed. The bounds grew by
 * 22 and 17 functions for what decides about bytes of strangers, and for keys of other types than text.
 */
const MAX = {
  'gRPC Get': { functions: 180, calls: 256 },
  'HTTP PATCH': { functions: 287, calls: 422 },
} as const

describe('the trace of a warm call', function () {
  let printed: string
  before(() => {
    const tool = join(compiled, 'test', 'support', 'trace-call.js')
    const { status, stdout, stderr } = spawnSync(process.execPath, [tool], { encoding: 'utf8' })
    expect(status, stderr).to.equal(0)
    printed = stdout
  })

  for (const [title, { functions, calls }] of Object.entries(MAX)) {
    it(`needs at most ${functions} functions and ${calls} calls for a ${title}`, () => {
      const found = new RegExp(`^${title}: \\d+ files, (\\d+) functions, (\\d+) calls$`, 'm').exec(printed)
      expect(Number(found?.[1]), 'functions').to.be.within(1, functions)
      expect(Number(found?.[2]), 'calls').to.be.within(1, calls)
    })
  }
})
