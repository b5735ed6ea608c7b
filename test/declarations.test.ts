import { expect } from 'chai'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { declarationSources, emptyPackage, packageOptions } from './support/sources/declaration-sources.js'

describe('declarations of a package that uses this one', () => {
  let folder: string
  beforeEach(() => {
    folder = emptyPackage()
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  for (const [name, source] of Object.entries(declarationSources))
    it(name, function () {
      this.timeout(60_000)
      writeFileSync(join(folder, 'source.ts'), source)
      expect(problemsOf('source.ts')).to.deep.equal([])
    })

  function problemsOf(file: string): string[] {
    const { options, errors } = ts.convertCompilerOptionsFromJson({ ...packageOptions }, folder)
    expect(errors).to.deep.equal([])
    const program = ts.createProgram([join(folder, file)], options)
    const { diagnostics } = program.emit()
    const problems = [...ts.getPreEmitDiagnostics(program), ...diagnostics]
    return problems.map(
      ({ file: at, start, messageText }) =>
        `${at?.getLineAndCharacterOfPosition(start ?? 0).line ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    )
  }
})
