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

const UPDATES = `
import { repositoryOf } from 'ashlar'
import type { BatchUpdateItemOf } from 'ashlar/persistence'

class Hook {
  id!: string
  url!: string
  retries!: number
  note?: string
}
declare const hooks: InstanceType<ReturnType<typeof repositoryOf<Hook>>>
declare const whole: Hook
declare const names: string[]
declare const hook: Partial<Hook>

hooks.update('a', whole)
hooks.update('a', whole, ['*'])
hooks.update('a', { url: '' }, ['url'])
hooks.update('a', {}, names, { touchOnly: true })
hooks.batchUpdate([
  { key: 'a', entity: whole, fieldMask: [] },
  { key: 'b', entity: whole, fieldMask: ['*'] },
  { key: 'c', entity: { id: 'c', url: '', retries: 1 }, fieldMask: [] },
  { key: 'd', entity: { url: '' }, fieldMask: ['url', 'note'] },
  { key: 'e', entity: {}, fieldMask: names, touchOnly: true },
])
hooks.batchUpdate(names.map((key) => ({ key, entity: { url: key }, fieldMask: ['url'] })))
`

/** Each operation is a method that a subclass can override, with `super` inside. */
const OVERRIDES = ['repositoryOf', 'memoryRepositoryOf'].map(
  (base) => `
import { ${base} } from 'ashlar'
import type { OperationOptions, UpdateOptions, WriteOptions } from 'ashlar/persistence'

class Hook {
  id!: string
  url!: string
}
export class Hooks extends ${base}(Hook) {
  override async get(key: string, options?: OperationOptions): Promise<Hook> {
    return super.get(key, options)
  }
  override async create(hook: Partial<Hook>, options?: OperationOptions): Promise<Hook> {
    return super.create({ ...hook, url: hook.url ?? '' }, options)
  }
  override async update(key: string, hook: Partial<Hook>, mask?: readonly string[], options?: UpdateOptions): Promise<Hook> {
    return super.update(key, hook as Hook, mask as [], options)
  }
  override async delete(key: string, options?: WriteOptions): Promise<void> {
    await super.delete(key, options)
  }
}
`,
)

/** None of these compiles: each would set to zero what it does not name, or names nothing there is. */
const MISTAKES = [
  "hooks.update('a', { url: '' })",
  "hooks.update('a', { url: '' }, [])",
  "hooks.update('a', { url: '' }, ['*'])",
  "hooks.update('a', { url: '' }, names)",
  "hooks.update('a', { url: '' }, ['address'])",
  "hooks.update('a', {}, names, { touchOnly: false })",
  "hooks.batchUpdate([{ key: 'a', entity: { url: '' }, fieldMask: [] }])",
  "hooks.batchUpdate([{ key: 'a', entity: { url: '' }, fieldMask: ['*'] }])",
  "hooks.batchUpdate([{ key: 'a', entity: { url: '' }, fieldMask: names }])",
  "hooks.batchUpdate([{ key: 'a', entity: { url: '' }, fieldMask: ['address'] }])",
  "hooks.batchUpdate([{ key: 'a', entity: { url: '' } } as never as { key: string; entity: Partial<Hook> }])",
  "hooks.batchUpdate([{ key: 'a', entity: hook, fieldMask: [] }])",
  "hooks.batchUpdate([{ key: 'a', entity: whole, fieldMask: [] }, { key: 'b', entity: hook, fieldMask: [] }])",
  "hooks.batchUpdate([{ key: 'a', entity: {}, fieldMask: [], touchOnly: false }])",
  "const item: BatchUpdateItemOf<Hook> = { key: 'a', entity: hook, fieldMask: [] }",
]

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
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('name every type that a repository is made of', function () {
    this.timeout(60_000)
    writeFileSync(join(folder, 'hooks.ts'), SOURCE)
    expect(problemsOf('hooks.ts')).to.deep.equal([])
  })

  it('take an update of a whole entity, or of part of one with a mask, in a batch as well', function () {
    this.timeout(60_000)
    const mistakes = MISTAKES.map((line) => `{\n  // @ts-expect-error\n  ${line}\n}`)
    writeFileSync(join(folder, 'updates.ts'), `${UPDATES}${mistakes.join('\n')}\n`)
    expect(problemsOf('updates.ts')).to.deep.equal([])
  })

  for (const [index, source] of OVERRIDES.entries())
    it(`let operations be overridden as methods (${index + 1} of ${OVERRIDES.length})`, function () {
      this.timeout(60_000)
      writeFileSync(join(folder, 'overrides.ts'), source)
      expect(problemsOf('overrides.ts')).to.deep.equal([])
    })

  function problemsOf(file: string): string[] {
    const program = ts.createProgram([join(folder, file)], {
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
    return problems.map(
      ({ file: at, start, messageText }) =>
        `${at?.getLineAndCharacterOfPosition(start ?? 0).line ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    )
  }
})
