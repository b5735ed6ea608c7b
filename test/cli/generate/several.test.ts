import { expect } from 'chai'
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
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

describe('ashlar generate resource with several resources', () => {
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

  it('refuses a field whose type or value the message has already', async () => {
    const proto = join(project.folder, 'proto/shop/v1/project.proto')
    const before = readFileSync(proto, 'utf8')
    const inner = 'message Project {\n  message Size {}\n  enum Phase { PHASE_UNSPECIFIED = 0; OPEN = 1; }\n'
    writeFileSync(proto, before.replace('message Project {\n', inner))
    try {
      for (const [field, why] of [
        ['size:enum(S,M)', '--fields size: Project already has a type Size'],
        ['state:enum(OPEN)', '--fields state: the enum Phase already has the value OPEN'],
      ] as const) {
        const { exit, stderr } = await project.ashlar('generate', 'resource', 'Project', '--fields', field)
        expect(exit).to.equal(2)
        expect(stderr).to.include(why)
      }
    } finally {
      writeFileSync(proto, before)
    }
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
      expect(made.stderr).to.include(`${flags[0] ?? ''}: it applies to one resource`)
    }
    const twice = await project.ashlar('generate', 'resource', 'Customer(b:int32)', '--fields', 'a:int32')
    expect(twice.stderr).to.include('--fields: Customer(b:int32) already has its fields')
  })

  it('refuses a parent whose reference would be the column of the tenant', async () => {
    const before = files()
    const made = await project.ashlar(
      'generate',
      'resource',
      'Account(title:string!)',
      'Account/Member(email:string!)',
    )
    expect(made.exit).to.not.equal(0)
    expect(made.stderr).to.include('nothing is changed: --parent Account: account_id is the tenant column')
    expect(files()).to.deep.equal(before)
  })

  it('writes parents and what is in them, with their migrations, in a project that compiles', async () => {
    const asked = recordedBuf(project.folder)
    const made = await project.ashlar(
      ...['generate', 'resource', 'Customer(title:string!)', 'Customer/Invoice(total:int64 due:timestamp?)'],
      ...['Supplier(title:string!)', 'supplier/Delivery(size:int32)', '--json'],
    )
    expect(made.stderr).to.equal('')
    const { resources, migrations } = JSON.parse(made.stdout) as {
      resources: readonly { name: string; isNew: boolean; addedFields: readonly string[] }[]
      migrations: readonly string[]
    }
    expect(resources.map(({ name, isNew, addedFields }) => [name, isNew, addedFields])).to.deep.equal([
      ['Customer', true, ['title']],
      ['Invoice', true, ['total', 'due']],
      ['Supplier', true, ['title']],
      ['Delivery', true, ['size']],
    ])
    const tables = ['customers', 'deliveries', 'invoices', 'suppliers']
    const created = migrations.map((path) => path.replace(/^.*\d{4}_create_/, ''))
    expect(created).to.have.members(tables.flatMap((table) => [`${table}.up.sql`, `${table}.down.sql`]))
    const at = (table: string) => created.indexOf(`${table}.up.sql`)
    expect(at('customers')).to.be.below(at('invoices'))
    expect(at('suppliers')).to.be.below(at('deliveries'))
    expect(readFileSync(join(project.folder, 'proto/shop/v1/invoice.proto'), 'utf8')).to.include(
      'customers/{customer}/invoices/{invoice}',
    )
    // Once at first, once after the parents, once after what needs them.
    expect(asked()).to.deep.equal(['build', 'build', 'build', 'generate'])
    expect(project.build()).to.deep.equal([])
  })

  it('changes two resources of one .proto file', async () => {
    const [customer, invoice] = ['customer', 'invoice'].map((one) =>
      join(project.folder, `proto/shop/v1/${one}.proto`),
    ) as [string, string]
    const declarations = readFileSync(invoice, 'utf8').replaceAll(/^(syntax|package|import) .*\n/gm, '')
    writeFileSync(customer, `${readFileSync(customer, 'utf8')}${declarations}`)
    rmSync(invoice)
    for (const name of ['invoice', 'invoice-service']) {
      const path = join(project.folder, `src/invoices/${name}.ts`)
      writeFileSync(path, readFileSync(path, 'utf8').replace('invoice_pb', 'customer_pb'))
    }
    const made = await project.ashlar('generate', 'resource', 'Customer(code:string)', 'Invoice(note:text)')
    expect(made.exit, made.stderr).to.equal(0)
    const text = readFileSync(customer, 'utf8')
    expect(text).to.match(
      /message Customer \{\n[^]* {2}string code = 6;\n[^]*message Invoice \{\n[^]* {2}string note = 7;\n/,
    )
  })
})

/** Notes each command of buf that a project runs. @returns what they are by then. */
function recordedBuf(folder: string): () => readonly string[] {
  const buf = join(folder, 'node_modules/.bin/buf')
  const notes = join(folder, 'buf-commands')
  renameSync(buf, `${buf}-itself`)
  writeFileSync(buf, `#!/bin/sh\necho "$1" >> '${notes}'\nexec '${buf}-itself' "$@"\n`)
  chmodSync(buf, 0o755)
  return () => readFileSync(notes, 'utf8').trim().split('\n')
}
