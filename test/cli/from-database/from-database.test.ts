import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { OF_ASHLAR } from '../../../cli/from-database/chosen-tables.js'
import { type TestDatabase, testDatabase } from '../../support/databases/test-database.js'
import { existingProject } from '../../support/projects/existing-project.js'
import { hasBuf, type LinkedProject } from '../../support/projects/linked-project.js'
import { root } from '../../support/root.js'
import { serviceUrl } from '../../support/running/services.js'

const here = join(root, 'test/cli/from-database')

async function run(url: string, sql: string): Promise<void> {
  const client = new Client(url)
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

async function databaseOf(sql: string): Promise<TestDatabase> {
  const database = await testDatabase('postgres')
  await run(database.url, sql)
  return database
}

interface Report {
  readonly entities: readonly {
    readonly entity: string
    readonly resource?: string
    readonly fields: readonly string[]
    readonly leftOut: readonly { readonly property: string; readonly reason: string }[]
    readonly notes: readonly string[]
  }[]
  readonly leftOut: readonly { readonly table: string; readonly reason: string }[]
  readonly notes: readonly string[]
}

const SHARED = ['Account', 'Country', 'Currency'].flatMap((name) => ['--shared', name])
const READ_ONLY = ['Account', 'Country'].flatMap((name) => ['--read-only', name])
const CHOICES = ['--tenant-column', 'account_id', ...SHARED, ...READ_ONLY]
const ENTITIES = ['--entities', 'dist/src/entities/index.js']

describe('ashlar generate from-database', () => {
  let project: LinkedProject
  let rental: TestDatabase
  before(async function () {
    if (!hasBuf || serviceUrl('postgres') === undefined) this.skip()
    project = await existingProject('rental', {})
    rental = await databaseOf(readFileSync(join(here, 'rental.sql'), 'utf8'))
  })
  after(async () => {
    await rental.drop()
    rmSync(dirname(project.folder), { recursive: true, force: true })
  })
  const generate = (url: string, ...args: readonly string[]) =>
    project.ashlar('generate', 'from-database', '--url', url, ...args)

  it('makes a service of a rental database, which answers and which the security check finds clean', async () => {
    const made = await generate(rental.url, ...CHOICES)
    expect([made.exit, made.stderr.match(/failed|not changed/g)]).to.deep.equal([0, null])
    expect(made.stdout)
      .to.match(/^ +note +the trigger rentals_updated_at calls set_updated_at\(\), which sets updated_at$/m)
      .and.match(/^open_rentals: left out: a view$/m)
    expect(project.build()).to.deep.equal([])
    const empty = await testDatabase('postgres')
    try {
      const up = await project.ashlar('migrate', 'up', '--url', empty.url)
      expect([up.exit, up.stdout]).to.deep.equal([
        0,
        'applied 0001_framework_init\napplied 0002_existing_tables\napplied 8001_outbox_log\n',
      ])
      cpSync(join(here, 'rental-calls.mjs'), join(project.folder, 'rental-calls.mjs'))
      const out = execFileSync('node', ['rental-calls.mjs'], {
        ...{ cwd: project.folder, env: { ...project.env, DATABASE_URL: empty.url }, encoding: 'utf8' },
        stdio: 'pipe',
      })
      const { security, ...calls } = JSON.parse(out.slice(out.indexOf('\n{\n') + 1)) as Record<
        string,
        unknown
      >
      expect(calls).to.deep.equal({
        shared: ['paid', 'Germany'],
        ...Object.fromEntries(
          [
            ...['branches', 'customers', 'customerNotes', 'categories', 'items', 'rentals', 'invoices'],
            'payments',
          ].map((name) => [name, true]),
        ),
        staff: true,
        typeorm: {
          rental: ['acme', 'picked up', ['reserved'], '2026-01-31', 3, 'Ada', 'Mitte'],
          item: ['12.50', '62.50', '0.00', [7, 8], { volts: 18 }, 3],
        },
        ashlar: ['Saw', '9.00', '45.00', 'YQ=='],
        trigger: true,
      })
      const { findings, notChecked } = security as {
        findings: unknown
        notChecked: readonly { method: string }[]
      }
      expect(findings).to.deep.equal([])
      // Their tables are keyed by the id alone, which the check reports.
      expect(notChecked.map(({ method }) => method)).to.deep.equal([
        '/rental.v1.CustomerService/CreateCustomer',
        '/rental.v1.ItemService/CreateItem',
        '/rental.v1.PaymentService/CreatePayment',
      ])
    } finally {
      await empty.drop()
    }
  })

  it('writes a migration that lint accepts, and that baseline records without a change to a table', async () => {
    expect((await project.ashlar('migrate', 'lint')).stdout).to.equal('lint: nothing found\n')
    const baseline = await project.ashlar('migrate', 'baseline', '--to', '2', '--url', rental.url)
    expect(baseline.stdout).to.include('recorded 0002_existing_tables as applied: nothing of it was run')
    expect((await project.ashlar('migrate', 'up', '--url', rental.url)).exit).to.equal(0)
    const verify = await project.ashlar('migrate', 'verify', ...ENTITIES, '--url', rental.url)
    expect([verify.exit, verify.stdout]).to.deep.equal([
      0,
      'the migrations match the files, and the tables match the entities\n',
    ])
  })

  it('adds what is new, keeps the numbers of fields, and leaves an edited file alone', async () => {
    const again = await generate(rental.url, ...CHOICES)
    expect(again.stdout.split('\n')[0]).to.equal('nothing to change: all files are as they would be written')
    expect(again.stderr).to.not.include('ADD COLUMN')
    await run(
      rental.url,
      `ALTER TABLE branches ADD COLUMN phone text;
       ALTER TABLE customers ADD COLUMN rating integer;
       CREATE TABLE vouchers (id uuid PRIMARY KEY, account_id varchar(36) NOT NULL, status rental_status)`,
    )
    const edited = join(project.folder, 'src/entities/customer.ts')
    writeFileSync(edited, `${readFileSync(edited, 'utf8')}// mine\n`)
    const third = await generate(rental.url, ...CHOICES)
    expect(third.stdout.split('\n\n')[0]?.split('\n').sort()).to.deep.equal([
      'changed proto/branch.proto',
      'changed proto/customer.proto',
      'changed src/entities/branch.ts',
      'changed src/entities/index.ts',
      'changed src/resources.ts',
      'written migrations/postgres/0003_more_existing_tables.down.sql',
      'written migrations/postgres/0003_more_existing_tables.up.sql',
      'written proto/voucher.proto',
      'written src/entities/customer.ts.new',
      'written src/entities/voucher.ts',
    ])
    expect(third.stderr.match(/(?<=in the migrations names )[\w.]+(?=: if no file makes it)/g)).to.deep.equal(
      ['branches.phone', 'customers.rating'],
    )
    expect(readFileSync(edited, 'utf8')).to.match(/\/\/ mine\n$/)
    expect(readFileSync(join(project.folder, 'proto/branch.proto'), 'utf8'))
      .to.match(/^\/\/ Where customers pick items up\.\nmessage Branch \{/m)
      .and.match(/bool is_open = 7\b/)
      .and.match(/optional string phone = 8\b/)
    const up = readFileSync(
      join(project.folder, 'migrations/postgres/0003_more_existing_tables.up.sql'),
      'utf8',
    )
    expect(up)
      .to.match(/^CREATE TABLE vouchers /m)
      .and.not.match(/CREATE TYPE/)
  })

  it('names what it leaves out, and why', async () => {
    const odd = await databaseOf(readFileSync(join(here, 'odd.sql'), 'utf8'))
    const folder = join(dirname(project.folder), 'odd')
    cpSync(join(project.folder, 'package.json'), join(folder, 'package.json'))
    cpSync(join(project.folder, 'node_modules'), join(folder, 'node_modules'), { recursive: true })
    const made = await generate(odd.url, folder, '--tenant-column', 'org_id', '--json')
    await odd.drop()
    const { entities, leftOut } = JSON.parse(made.stdout) as Report
    const of = (name: string) => entities.find(({ entity }) => entity === name)
    expect(Object.fromEntries(leftOut.map(({ table, reason }) => [table, reason]))).to.deep.equal({
      child_rows: 'it inherits from another table',
      flyway_schema_history: 'a table of Flyway',
      no_keys: 'it has no primary key, which TypeORM needs',
      parts_2026: 'a partition: its table has the rows',
    })
    expect(
      Object.fromEntries(
        entities
          .filter(({ resource }) => resource === undefined)
          .map(({ entity, notes }) => [entity, notes[0]]),
      ),
    ).to.deep.equal({
      DateEntity: 'no resource: its key day must be a string, a UUID or an integer',
      Numbered:
        'no resource: the database generates its key id, and nothing keeps it unique: add a unique index on id',
      Lamp: 'no resource: the .proto of GetLampRequest has the name GetLampRequest, too',
      Part: 'no resource: it has a composite key (id, at), and a resource needs one',
      Person: 'no resource: a new row needs home, and TypeORM has no type address: give it a default',
      Region:
        'no resource: its table has no column org_id: name the class in --shared if all tenants share its rows, or add the column in a migration and run the command again',
    })
    // Clashing names: the tables order and orders, and two columns that are userId.
    expect(of('Order')?.fields).to.deep.equal(['id', 'select', 'class', 'user_id', 'type'])
    expect(of('Order')?.leftOut.map(({ property }) => property)).to.deep.equal([
      'constructor',
      '2fa',
      'userId',
    ])
    expect([of('Orders')?.resource, of('SalesOrder')?.resource]).to.deep.equal(['orders', 'sales_order'])
    expect(of('Wide')?.fields.length).to.equal(201)
    expect([of('Shop')?.fields, of('Shop')?.leftOut, of('Shop')?.notes]).to.deep.equal([
      ['id', 'region_code'],
      [{ property: 'region', reason: 'a relation to Region, which is not a resource' }],
      [],
    ])
    expect(readFileSync(join(folder, 'src/entities/shop.ts'), 'utf8')).to.match(
      /@Internal\(\)\s+@ManyToOne\(\(\) => Region/,
    )
    expect(of('ToString')).to.deep.include({
      fields: ['id', 'state', 'line1', 'a_bc'],
      leftOut: [
        { property: 'mode', reason: 'its label "unspecified" cannot be the name of an enum value' },
        { property: 'stateCode', reason: 'the field STATE_CODE_A is already used by state' },
        { property: 'line_1', reason: 'the field line1 is already used by line1' },
        {
          property: 'orgId',
          reason: 'its name cannot be the name of a property, or another column has it',
        },
      ],
    })
    expect(readFileSync(join(folder, 'src/entities/to-string.ts'), 'utf8'))
      .to.include("name: 'org_id' }) orgId!: number")
      .and.match(/^import \{ ProtoField, Resource, TenantScoped \} from 'ashlar\/decorators'$/m)
      .and.match(/@ProtoField\('a_bc'\)\s+@Column\(.*name: 'a_b_c'.*\)\s+aBC\?: string/)
    expect(readFileSync(join(folder, 'proto/to_string.proto'), 'utf8')).to.not.match(/^(message Evil|\*)/m)
    expect(of('Kind')?.notes[0]).to.equal('no Create: a new row needs code, which a client cannot send')
  })

  for (const [what, args, error] of [
    [
      'without a choice of tenants',
      [],
      /say whose the rows are: --tenant-column account_id \(12 of 16 tables have it\), or --without-tenants/,
    ],
    [
      'with a tenant column that no table has',
      ['--tenant-column', 'acount_id'],
      /--tenant-column: no table has a column acount_id/,
    ],
    [
      'with an unknown schema',
      ['--without-tenants', '--schema', 'biling'],
      /--schema: the database does not have a schema biling: did you mean billing\?/,
    ],
    [
      'with an unknown table',
      ['--without-tenants', '--tables', 'rental'],
      /--tables: the database does not have a table rental: did you mean rentals\?/,
    ],
    [
      'with a view',
      ['--without-tenants', '--tables', 'open_rentals'],
      /--tables: open_rentals cannot have a class: a view/,
    ],
    [
      'with an unknown class',
      ['--tenant-column', 'account_id', '--shared', 'Curency'],
      /--shared: Curency is not an entity class: did you mean Currency\?/,
    ],
  ] as const)
    it(`fails ${what}`, async () => {
      const { exit, stderr } = await generate(rental.url, ...args)
      expect(exit).to.equal(2)
      expect(stderr).to.match(error)
    })

  it('fails on another engine', async () => {
    const { exit, stderr } = await generate('mysql://root@127.0.0.1:1/shop', '--without-tenants')
    expect(exit).to.equal(2)
    expect(stderr).to.include('the catalog is read from PostgreSQL: name a database with postgres://')
  })
})

describe('the tables that from-database leaves to Ashlar', () => {
  it('are those of its own migrations', () => {
    const folder = join(root, 'migrations/postgres')
    expect(existsSync(folder)).to.equal(true)
    const made = readdirSync(folder)
      .filter((file) => file.endsWith('.up.sql'))
      .flatMap((file) => [
        ...readFileSync(join(folder, file), 'utf8').matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(\w+)/gi),
      ])
      .map(([, table]) => table)
    expect(made).to.have.members([...OF_ASHLAR])
  })
})
