import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importedModule } from '../../lib/files/imported-module.js'

/** What tsc writes for `export const one = …; export default …` as CommonJS, and swc in another way. */
const COMPILED = (value: number) =>
  `Object.defineProperty(exports, '__esModule', { value: true }); exports.one = ${value}; exports.default = ${value}`
const SWC = `Object.defineProperty(exports, '__esModule', { value: true })
const _export = (target, all) => { for (const name in all) Object.defineProperty(target, name, { enumerable: true, get: all[name] }) }
_export(exports, { default: () => 1, one: () => 1 })`

describe('a module of the application', () => {
  let folder: string
  before(() => (folder = mkdtempSync(join(tmpdir(), 'ashlar-modules-'))))
  after(() => rmSync(folder, { recursive: true }))

  const loaded = async (name: string, text: string, edition?: string) => {
    writeFileSync(join(folder, name), text)
    const { default: whole, one } = await importedModule(join(folder, name), edition)
    return { whole, one }
  }
  const SAME = { whole: 1, one: 1 }

  it('has the exports of its source, whatever it was compiled to', async () => {
    expect(await loaded('module.mjs', 'export const one = 1; export default 1')).to.deep.equal(SAME)
    expect(await loaded('compiled.cjs', COMPILED(1))).to.deep.equal(SAME)
    expect(await loaded('swc.cjs', SWC)).to.deep.equal(SAME)
    expect((await loaded('written.cjs', 'module.exports = 1')).whole).to.equal(1)
  })

  it('is read again where its text has changed', async () => {
    expect(await loaded('edited.cjs', COMPILED(1), 'a')).to.deep.equal(SAME)
    expect(await loaded('edited.cjs', COMPILED(2), 'b')).to.deep.equal({ whole: 2, one: 2 })
    expect(await loaded('edited.mjs', 'export const one = 1; export default 1', 'a')).to.deep.equal(SAME)
    expect((await loaded('edited.mjs', 'export const one = 2', 'b')).one).to.equal(2)
  })
})
