import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { testDatabase, type TestDatabase } from './databases/test-database.js'
import { compiled } from './root.js'
import { serviceUrl } from './running/services.js'

/**
 * The maximum cost of a call after warm-up. A feature that is not configured must not add a function: decide
 * when the chain is composed. The subject of a commit that raises a limit must say so.
 */
const MAX = {
  'gRPC Get': { functions: 179, calls: 246 },
  'HTTP PATCH': { functions: 283, calls: 411 },
} as const
const MAX_ON_POSTGRES = {
  'HTTP GET on PostgreSQL': { functions: 239, calls: 369 },
  'HTTP PATCH with If-Match on PostgreSQL': { functions: 343, calls: 563 },
} as const

describe('the trace of a warm call', function () {
  const hasPostgres = serviceUrl('postgres') !== undefined
  let database: TestDatabase | undefined
  let printed: string
  before(async () => {
    if (hasPostgres) database = await testDatabase('postgres')
    const tool = join(compiled, 'test', 'support', 'trace-call.js')
    const args = database === undefined ? [tool] : [tool, database.url]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(status, stderr).to.equal(0)
    printed = stdout
  })
  after(() => database?.drop())

  const all = hasPostgres ? { ...MAX, ...MAX_ON_POSTGRES } : MAX
  for (const [title, { functions, calls }] of Object.entries(all)) {
    it(`needs at most ${functions} functions and ${calls} calls for a ${title}`, () => {
      const found = new RegExp(`^${title}: \\d+ files, (\\d+) functions, (\\d+) calls$`, 'm').exec(printed)
      expect(Number(found?.[1]), 'functions').to.be.within(1, functions)
      expect(Number(found?.[2]), 'calls').to.be.within(1, calls)
    })
  }
})
