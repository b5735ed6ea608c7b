import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './support/root.js'
import { projectFiles } from './support/sources/source-files.js'

const PAGES = [
  ...projectFiles('docs').filter((path) => path.endsWith('.md')),
  ...['README.md', 'SECURITY.md', 'CONTRIBUTING.md'],
]
/** A path of the project in a page; a star stands for any name. */
const PATH = /(?<![\w./@-])(?:lib|cli|decorators|test|bench|examples|proto)\/[\w./*-]*[\w*/]/g

describe('paths in the documentation', () => {
  for (const page of PAGES)
    it(`of ${page} exist`, () => {
      expect(pathsIn(readFileSync(join(root, page), 'utf8')).filter((path) => !isThere(path))).to.deep.equal(
        [],
      )
    })

  it('are found in text, in code and in links', () => {
    expect(pathsIn('`lib/a.ts`, see lib/b.ts. [x](../lib/c.ts) and "test/*.test.ts"')).to.deep.equal([
      'lib/a.ts',
      'lib/b.ts',
      'test/*.test.ts',
    ])
    expect(isThere('lib/no-such-file.ts')).to.equal(false)
    expect(isThere('lib/errors.ts')).to.equal(true)
    expect(isThere('test/*.test.ts')).to.equal(true)
  })
})

const pathsIn = (text: string): readonly string[] => [...text.matchAll(PATH)].map(([path]) => path)

function isThere(path: string): boolean {
  if (!path.includes('*')) return existsSync(join(root, path))
  const [folder = ''] = path.split('/')
  const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`)
  return projectFiles(folder).some((one) => pattern.test(one))
}
