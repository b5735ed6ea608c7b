import { expect } from 'chai'
import { readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseFields, parseKey } from '../../../cli/generate/field-spec.js'
import { keyIn } from '../../../cli/generate/entity-file.js'
import { KEY_TYPES } from '../../../cli/generate/field-types.js'
import { drilling } from '../../support/drill.js'
import { testDatabase, type TestDatabase } from '../../support/databases/test-database.js'
import { hasBuf, type LinkedProject, linkedProject } from '../../support/projects/linked-project.js'
import { compiled } from '../../support/root.js'
import { askedBackends } from '../../support/running/asked.js'
import { serviceUrl } from '../../support/running/services.js'

describe('the type of a key in --fields', () => {
  for (const [name, type] of Object.entries(KEY_TYPES))
    it(`is ${name}`, () => {
      expect(parseKey(`title:string! id:${name}`)).to.equal(type)
      expect(parseFields(`title:string! id:${name}`).map((field) => field.name)).to.deep.equal(['title'])
    })

  it('is that of a string where nobody says it', () => expect(parseKey('title:string')).to.equal(undefined))

  for (const text of ['id', 'id:', 'id:int', 'id:uuid!', 'id:string?', 'id:uuid(minted)', 'id:bool'])
    it(`is not ${text}`, () =>
      expect(() => parseKey(text)).to.throw(
        `--fields ${text}: the type of a key must be one of string, uuid`,
      ))

  it('is said once', () =>
    expect(() => parseKey('id:uuid id:int32')).to.throw('--fields names id twice: name it once'))
})

/** Lines of entities, and what `@Column()` of a reference takes and has. */
const DECLARED: readonly (readonly [string, string, string])[] = [
  ['@PrimaryColumn() id!: string', '', 'string'],
  ["@PrimaryColumn('uuid') id!: string", "'uuid'", 'string'],
  [
    "@PrimaryColumn({ type: 'binary', length: 16 })\n  id!: string",
    "{ type: 'binary', length: 16 }",
    'string',
  ],
  ["@PrimaryColumn('smallint') readonly id: number", "'smallint'", 'number'],
  ["@PrimaryGeneratedColumn('uuid') id!: string", "'uuid'", 'string'],
  ['@PrimaryGeneratedColumn() id!: number', "'int'", 'number'],
  ["@PrimaryGeneratedColumn('identity', { type: 'bigint' }) id!: bigint", "'bigint'", 'bigint'],
  ['id!: never', '', 'string'],
]

describe('the key of an entity that is there', () => {
  for (const [line, column, property] of DECLARED)
    it(`is read from ${line}`, () => expect(keyIn(line)).to.include({ column, property }))
})

describe('ashlar generate resource with keys of each type', () => {
  let project: LinkedProject
  let database: TestDatabase | undefined

  before(async function () {
    const isAsked = askedBackends()?.includes('postgres') ?? true
    if (!hasBuf || basename(compiled) !== 'dist' || !isAsked || serviceUrl('postgres') === undefined)
      this.skip()
    database = await testDatabase('postgres')
    const choices = ['--database', 'postgres', '--no-nest', '--auth', 'headers']
    project = await linkedProject('shop', choices, { ASHLAR_DATABASE_URL: database.url })
  })
  after(async () => {
    await database?.drop()
    if (project !== undefined) rmSync(dirname(project.folder), { recursive: true, force: true })
  })

  it(`writes a project that compiles and migrates${drilling ? ', and passes its tests' : ''}`, async () => {
    const made = await project.ashlar(
      ...['generate', 'resource', 'Ledger(id:uuid title:string!)', 'Ledger/Entry(id:int64 title:string!)'],
      ...['Folder(id:int32 title:string!)', 'Folder/Line(id:int32(generated) title:string!)'],
      ...['Ticket(id:int64(generated) title:string!)', 'Ticket/Step(title:string!)'],
    )
    expect(made.exit, made.stderr).to.equal(0)
    const entity = readFileSync(join(project.folder, 'src/steps/step.ts'), 'utf8')
    expect(entity).to.include('@PrimaryColumn() id!: string')
    expect(entity).to.include("@Column('bigint') ticketId!: bigint")
    expect(project.build()).to.deep.equal([])
    // They start the service for each resource, and attack all of them.
    if (drilling) expect(project.test()).to.match(/^# fail 0$/m)
    const again = await project.ashlar('generate', 'resource', 'Ticket', '--fields', 'id:uuid size:int32')
    expect(again.stderr).to.include('--fields id: Ticket already exists, and its key cannot change')
  })
})
