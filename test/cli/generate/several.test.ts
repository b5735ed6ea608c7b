import { expect } from 'chai'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseResource } from '../../../cli/generate/resource-spec.js'
import { hasBuf, type LinkedProject, linkedProject } from '../../support/projects/linked-project.js'

const SPECS: readonly (readonly [string, ReturnType<typeof parseResource>])[] = [
  ['Task', { name: 'Task' }],
  ['Project/Task', { name: 'Task', parent: 'Project' }],
  ['Task()', { name: 'Task', fields: '' }],
  [
    'Project/Task(title:string! state:enum(OPEN,DONE))',
    { name: 'Task', parent: 'Project', fields: 'title:string! state:enum(OPEN,DONE)' },
  ],
  [' Task (\n  size:int32\n) ', { name: 'Task', fields: '\n  size:int32\n' }],
]

describe('a resource on the command line', () => {
  for (const [text, spec] of SPECS)
    it(`is ${JSON.stringify(text)}`, () => expect(parseResource(text)).to.deep.equal(spec))
  for (const text of ['', 'Task(', 'Task)', 'a/b/c', '/Task', 'Task/', '1Task', 'Ta sk', 'Task(a:b) x'])
    it(`is not ${JSON.stringify(text)}`, () =>
      expect(() => parseResource(text)).to.throw(/write a resource as/))
})

describe('ashlar generate resource with several resources', function () {
  let project: LinkedProject
  const files = () =>
    readdirSync(project.folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => /^(src|proto|test|migrations)\//.test(path) && /\.(ts|proto|sql)$/.test(path))
      .map((path) => `${path} ${readFileSync(join(project.folder, path), 'utf8').length}`)
      .sort()

  before(async function () {
    if (!hasBuf) this.skip()
    project = await linkedProject('shop', ['--database', 'postgres'])
    expect(project.build()).to.deep.equal([])
  })
  after(() => rmSync(dirname(project.folder), { recursive: true, force: true }))

  it('writes nothing where one of them cannot be written', async () => {
    const before = files()
    const made = await project.ashlar(
      'generate',
      'resource',
      'Customer(title:string!)',
      'Nobody/Invoice(a:int32)',
    )
    expect(made.exit).to.not.equal(0)
    expect(made.stderr).to.match(/nothing is changed: .*Nobody/)
    expect(files()).to.deep.equal(before)
  })

  it('takes flags for one of them only', async () => {
    for (const flags of [
      ['--parent', 'Project'],
      ['--fields', 'a:int32'],
      ['--remove', 'a'],
    ]) {
      const made = await project.ashlar(
        'generate',
        'resource',
        'Customer(b:int32)',
        'Invoice(b:int32)',
        ...flags,
      )
      expect(made.stderr).to.include(`${flags[0] ?? ''}: it is for one resource`)
    }
    const twice = await project.ashlar('generate', 'resource', 'Customer(b:int32)', '--fields', 'a:int32')
    expect(twice.stderr).to.include('--fields: Customer(b:int32) has its fields already')
  })

  it('writes a parent and what is in it, with their migrations, in a project that compiles', async () => {
    const made = await project.ashlar(
      ...['generate', 'resource', 'Customer(title:string!)', 'Customer/Invoice(total:int64 due:timestamp?)'],
      '--json',
    )
    expect(made.stderr).to.equal('')
    const { resources, migrations } = JSON.parse(made.stdout) as {
      resources: readonly { name: string; isNew: boolean; addedFields: readonly string[] }[]
      migrations: readonly string[]
    }
    expect(resources.map(({ name, isNew, addedFields }) => [name, isNew, addedFields])).to.deep.equal([
      ['Customer', true, ['title']],
      ['Invoice', true, ['total', 'due']],
    ])
    expect(migrations.map((path) => path.replace(/^.*\d{4}_/, ''))).to.deep.equal([
      ...['create_customers.up.sql', 'create_customers.down.sql'],
      ...['create_invoices.up.sql', 'create_invoices.down.sql'],
    ])
    expect(readFileSync(join(project.folder, 'proto/shop/v1/invoice.proto'), 'utf8')).to.include(
      'customers/{customer}/invoices/{invoice}',
    )
    expect(project.build()).to.deep.equal([])
  })
})
