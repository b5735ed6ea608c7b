import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorLines, missesWhatIsThere, protoError, typescriptError } from '../../../cli/dev/source-error.js'
import { paintFor } from '../../../cli/output/paint.js'

const PLAIN = paintFor({})

describe('a mistake in a source', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-errors-'))
    writeFileSync(join(folder, 'a.ts'), 'const a = 1\n\tconst b: string = a\n')
  })
  after(() => rmSync(folder, { recursive: true }))

  it('is read from what tsc and buf print', () => {
    expect(typescriptError("src/a.ts(2,8): error TS2322: Type 'number' is …")).to.deep.equal({
      path: 'src/a.ts',
      line: 2,
      column: 8,
      message: "TS2322: Type 'number' is …",
    })
    expect(protoError('proto/a.proto:3:1:syntax error')).to.deep.equal({
      path: 'proto/a.proto',
      line: 3,
      column: 1,
      message: 'syntax error',
    })
    expect(typescriptError('12:00:00 - Found 0 errors. Watching for file changes.')).to.equal(undefined)
    expect(protoError('Failure: no such file')).to.equal(undefined)
  })

  it('is of an old state where it misses a module that is there', () => {
    const missing = (module: string) => ({
      path: 'src/b.ts',
      line: 1,
      column: 1,
      message: `TS2307: Cannot find module '${module}' or its corresponding type declarations.`,
    })
    expect(missesWhatIsThere(missing('../a.js'), folder)).to.equal(true)
    for (const module of ['./a.js', '../c.js', 'a', 'typeorm'])
      expect(missesWhatIsThere(missing(module), folder), module).to.equal(false)
    expect(missesWhatIsThere({ ...missing('../a.js'), message: 'TS2304: ../a.js' }, folder)).to.equal(false)
  })

  it('is shown at its place', () => {
    const error = { path: 'a.ts', line: 2, column: 8, message: 'wrong' }
    expect(errorLines(error, folder, PLAIN)).to.deep.equal([
      'a.ts:2:8 wrong',
      '  2 |   const b: string = a',
      '    |         ^',
    ])
  })

  it('is shown without its line where that cannot be read', () => {
    expect(errorLines({ path: 'b.ts', line: 1, column: 1, message: 'wrong' }, folder, PLAIN)).to.deep.equal([
      'b.ts:1:1 wrong',
    ])
    expect(
      errorLines({ path: 'a.ts', line: 99, column: 1, message: 'wrong\u001b[2J' }, folder, PLAIN),
    ).to.deep.equal(['a.ts:99:1 wrong\uFFFD[2J'])
  })
})
