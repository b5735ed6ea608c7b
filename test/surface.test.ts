import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expectGolden } from './support/golden.js'
import { compiled, root } from './support/root.js'
import { surface } from './support/sources/surface.js'

describe('the public surface', () => {
  it('exports the names of the golden list, so that none comes or goes unnoticed', () => {
    const lists = surface().entries.map((entry) =>
      [
        entry,
        ...surface()
          .exportsOf(entry)
          .map(({ name, kind }) => `  ${kind === 'type' ? 'type ' : ''}${name}`),
      ].join('\n'),
    )
    expectGolden('surface.txt', `${lists.join('\n\n')}\n`)
  })

  for (const entry of surface().entries)
    it(`has at run time exactly what the compiler promises of ${entry}`, async () => {
      const promised = surface()
        .exportsOf(entry)
        .filter(({ kind }) => kind === 'value')
      const loaded = (await import(fileOf(entry))) as Record<string, unknown>
      expect(Object.keys(loaded).sort()).to.deep.equal(promised.map(({ name }) => name).sort())
    })

  it('has one binding for a name, whichever entry it is taken from', async () => {
    const bindings = new Map<string, unknown>()
    const shared: string[] = []
    for (const entry of surface().entries)
      for (const [name, value] of Object.entries((await import(fileOf(entry))) as Record<string, unknown>)) {
        if (bindings.has(name)) {
          expect(bindings.get(name), `${name} of ${entry}`).to.equal(value)
          shared.push(name)
        }
        bindings.set(name, value)
      }
    expect(shared).to.include.members(['ErrNotFound', 'Resource', 'ServerBuilder'])
  })
})

function fileOf(entry: string): string {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly default: string }>>
  }
  return pathToFileURL(
    join(compiled, exports[`.${entry.slice('ashlar'.length)}`]!.default.replace('./dist/', '')),
  ).href
}
