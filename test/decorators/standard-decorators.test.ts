import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import ts from 'typescript'
import * as decorators from '../../decorators/index.js'
import { DeclarationError } from '../../lib/errors.js'
import { compiled } from '../support/root.js'

const ON_A_CLASS = ['Emits', 'Expirable', 'Resource', 'Searchable', 'SoftDeletable', 'TenantScoped']
const ON_A_PROPERTY = [
  ...[
    'Computed',
    'CreateTime',
    'Credential',
    'Default',
    'ETag',
    'EnumLabels',
    'Internal',
    'OutputOnly',
    'ProtoField',
    'RenamedFrom',
    'Searchable',
    'Secret',
    'Tags',
    'TenantColumn',
    'UpdateTime',
  ],
]

const SETTING =
  'but TypeORM uses legacy decorators: set "experimentalDecorators": true and "emitDecoratorMetadata": true in the compilerOptions of tsconfig.json, or the equivalent if you do not compile with tsc'

/** As TypeScript compiles decorators when it is not told that they are TypeORM's kind. */
const compile = (source: string): string =>
  ts.transpileModule(source, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      experimentalDecorators: false,
    },
  }).outputText

describe('a decorator of the standard kind', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-standard-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  const failure = async (name: string, body: string): Promise<unknown> => {
    const from = pathToFileURL(join(compiled, 'decorators', 'index.js')).href
    const path = join(folder, `${name}-${Math.random()}.mjs`)
    writeFileSync(path, compile(`import { ${name} } from '${from}'\n${body}`))
    return import(pathToFileURL(path).href).then(
      () => undefined,
      (error: unknown) => error,
    )
  }

  for (const name of ON_A_CLASS)
    it(`is told from TypeORM's: @${name}() on a class`, async () => {
      const error = await failure(name, `@${name}() export class Widget {}`)
      expect((error as Error).name).to.equal('DeclarationError')
      expect((error as DeclarationError).problems).to.deep.equal([
        `@${name}() was compiled as a standard (TC39) decorator, ${SETTING}`,
      ])
      expect((error as Error).message).to.match(/^Widget: /)
    })

  for (const name of ON_A_PROPERTY)
    it(`is told from TypeORM's: @${name}() on a property`, async () => {
      const error = await failure(name, `export class Widget { @${name}() field }`)
      expect((error as DeclarationError).problems).to.deep.equal([
        `@${name}() was compiled as a standard (TC39) decorator, ${SETTING}`,
      ])
      expect((error as Error).message).to.match(/^field: /)
    })

  it('is told for an accessor, a method and a class without a name', async () => {
    for (const body of [
      'export class Widget { @ETag() accessor field }',
      'export class Widget { @ETag() field() {} }',
      'export class Widget { @ETag() static field }',
      'export default (@ETag() class {})',
    ])
      expect(await failure('ETag', body), body)
        .to.have.property('message')
        .that.includes('experimentalDecorators')
  })

  for (const body of [
    `@Resource({ shared: true }) @Entity() export class Widget { @PrimaryColumn() id; @ETag() etag }`,
    `@Resource({ shared: true }) @Entity() export class Widget { @Column('text') title; @PrimaryColumn('varchar') id }`,
    `@Resource({ shared: true }) @Entity() export class Widget { @ManyToOne(() => Object) owner }`,
  ])
    it(`is told where TypeORM's come first: ${body.slice(body.indexOf('{ @'))}`, async () => {
      const typeorm = pathToFileURL(createRequire(import.meta.url).resolve('typeorm')).href
      const imports = `import typeorm from '${typeorm}'\nconst { Column, Entity, ManyToOne, PrimaryColumn } = typeorm\n`
      const error = await failure('ETag, Resource', imports + body)
      expect((error as Error).name).to.equal('DeclarationError')
      expect((error as DeclarationError).problems).to.deep.equal([
        `a decorator of TypeORM's was compiled as a standard (TC39) decorator, ${SETTING}`,
      ])
    })

  it('leaves Reflect.getMetadata as it was, before and after a class of either kind, and where it is frozen', async () => {
    const ours = pathToFileURL(join(compiled, 'decorators', 'index.js')).href
    const reflect = pathToFileURL(createRequire(import.meta.url).resolve('reflect-metadata')).href
    const path = join(folder, 'untouched.mjs')
    const look = `await import('${reflect}')
const before = Reflect.getMetadata
const { Resource } = await import('${ours}')
const seen = [Reflect.getMetadata === before]
const resource = Resource({ shared: true })
class Widget {}
resource(Widget)
seen.push(Reflect.getMetadata === before)
const standard = Resource({ shared: true })
try { standard(class {}, { kind: 'class', name: 'Widget' }) } catch (error) { seen.push(error.name) }
seen.push(Reflect.getMetadata === before)
Resource({ shared: true })
Resource({ shared: true })
await undefined
seen.push(Reflect.getMetadata === before)
Object.freeze(Reflect)
Resource({ shared: true })(class Other {})
console.log(JSON.stringify(seen))`
    writeFileSync(path, look)
    const { stdout } = await promisify(execFile)(process.execPath, [path])
    expect(JSON.parse(stdout)).to.deep.equal([true, true, 'DeclarationError', true, true])
  })

  it('is told by every decorator that there is', () => {
    const { withoutTenants: _, ...all } = decorators
    const names = Object.entries(all).filter(([, value]) => typeof value === 'function')
    expect(names.map(([name]) => name).sort()).to.deep.equal(
      [...new Set([...ON_A_CLASS, ...ON_A_PROPERTY])].sort(),
    )
  })
})
