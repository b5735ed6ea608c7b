import { expect } from 'chai'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { compiled, root } from './support/root.js'

const SOURCE = `
import { type Credential, memoryRepositoryOf, repositoryOf, type Secret } from 'ashlar'

export class Hook {
  id!: string
  key!: Credential
  signingKey!: Secret
}
export class Hooks extends repositoryOf(Hook) {}
export class HooksInMemory extends memoryRepositoryOf(Hook) {}
export const repository = repositoryOf(Hook)
`

describe('declarations of a package that uses this one', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-declarations-'))
    const installed = join(folder, 'node_modules')
    mkdirSync(join(installed, 'ashlar'), { recursive: true })
    symlinkSync(compiled, join(installed, 'ashlar', 'dist'))
    symlinkSync(join(root, 'package.json'), join(installed, 'ashlar', 'package.json'))
    for (const name of ['typeorm', '@bufbuild', '@grpc', 'nice-grpc', 'nice-grpc-common'])
      symlinkSync(join(root, 'node_modules', name), join(installed, name))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'hooks.ts'), SOURCE)
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('name every type that a repository is made of', function () {
    this.timeout(60_000)
    const program = ts.createProgram([join(folder, 'hooks.ts')], {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      strict: true,
      declaration: true,
      emitDeclarationOnly: true,
      skipLibCheck: true,
      preserveSymlinks: true,
      types: [],
      outDir: join(folder, 'out'),
    })
    const { diagnostics } = program.emit()
    const problems = [...ts.getPreEmitDiagnostics(program), ...diagnostics]
    expect(
      problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
    ).to.deep.equal([])
  })
})
