import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fieldNumbers } from '../../../cli/from-entities/entity-proto.js'
import { testDatabase } from '../../support/databases/test-database.js'
import { serviceUrl } from '../../support/running/services.js'
import { existingProject } from '../../support/projects/existing-project.js'
import { hasBuf, linkPackage, type LinkedProject } from '../../support/projects/linked-project.js'
import { root } from '../../support/root.js'
import { blocksOf } from '../../support/sources/documents.js'

/** The forty classes of another test, each exported. */
const forty = () =>
  readFileSync(join(root, 'test/conformance/shop/forty-entities.ts'), 'utf8')
    .replaceAll(/^(abstract |)(class|enum) /gm, 'export $1$2 ')
    .replace(/export const shop[\s\S]*$/, '')

/** Names that protobuf does not derive, or does not have. */
const GADGET = `
@Entity()
export class Gadget {
  @PrimaryGeneratedColumn('uuid') id!: string
  @Column() serialNO!: string
}
export class Geo {
  @Column('double precision') latitude!: number
  @Column('double precision') longitude!: number
}
export class Whereabouts {
  @Column() street!: string
  @Column({ nullable: true }) city?: string
  @Column({ type: 'enum', enum: ['home', 'work'], nullable: true }) usage?: string
  @Column(() => Geo) geo!: Geo
}
export class Login {
  @Column() password!: string
}
@Entity()
export class Depot {
  @PrimaryGeneratedColumn('uuid') id!: string
  @Column(() => Whereabouts) mainADDR!: Whereabouts
  @Column(() => Geo, { prefix: 'at' }) place!: Geo
  @Column(() => Login) login!: Login
}
@Entity()
export class $Odd {
  @PrimaryGeneratedColumn('uuid') id!: string
}
@Entity()
export class ServerBuilder {
  @PrimaryGeneratedColumn('uuid') id!: string
}
`

/** The block of the guide that contains a text, on free ports. */
const guideBlock = (containing: string): string =>
  (
    blocksOf('docs/guides/existing-application.md').find(({ text }) => text.includes(containing))?.text ?? ''
  ).replaceAll(/':\d+'/g, "'127.0.0.1:0'")

/** Imports of a program, and its function that opens a DataSource. */
const OPENED = `
import { devAuthorizer, devPrincipal, type Server, ServerBuilder } from 'ashlar'
import { DataSource } from 'typeorm'
import * as entities from './entities.js'
import { registerResources } from './resources.js'

const url = process.env['DATABASE_URL']!
const all = Object.values(entities).filter((one) => typeof one === 'function')
const opened = () => new DataSource({ type: 'postgres', url, synchronize: true, entities: all }).initialize()
`

/** Prints the response to a list. */
const LISTED = `
const response = await fetch(\`http://\${address}/v1/gadgets\`, { headers: { 'account-id': 'acme', subject: 'alice' } })
process.stdout.write(\`\${response.status} \${await response.text()}\`)
process.exit(0)
`

/** A program with the block of the guide that starts a server. */
const application = (block: string) => `${OPENED}
const dataSource = await opened()
const { signal } = new AbortController()
${block.replace('await server.build().serve(signal)', 'const built: Server = server.build()\nvoid built.serve(signal)\nawait built.ready()')}
const address = built.httpAddr()
${LISTED}`

/** A Nest application with the options of the guide, and its block among the imports. */
const nestApplication = (options: string, block: string) => `
import { Global, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { AshlarModule, serverToken } from 'ashlar/nest'
${OPENED}
${options}
@Global()
@Module({ providers: [{ provide: DataSource, useFactory: opened }], exports: [DataSource] })
class DatabaseModule {}

@Module({ imports: [DatabaseModule, ${block}] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] })
const address = app.get<Server>(serverToken()).httpAddr()
${LISTED}`

const SHARED = ['Member', 'Organization'].flatMap((name) => ['--shared', name])

describe('ashlar generate from-entities', () => {
  let project: LinkedProject
  before(async function () {
    if (!hasBuf || serviceUrl('postgres') === undefined) this.skip()
    project = await existingProject('shop', { 'src/entities.ts': `${forty()}${GADGET}` })
  })
  /** Runs a program in the project that prints the response to a list. */
  const expectList = async (program: string) => {
    writeFileSync(join(project.folder, 'src/application.ts'), program)
    const problems = project.build()
    rmSync(join(project.folder, 'src/application.ts'))
    expect(problems).to.deep.equal([])
    const database = await testDatabase('postgres')
    const env = { ...project.env, DATABASE_URL: database.url }
    const options = { cwd: project.folder, env, encoding: 'utf8' } as const
    expect(execFileSync('node', ['dist/src/application.js'], options)).to.equal(
      '200 {"gadgets":[],"nextPageToken":""}',
    )
    await database.drop()
  }
  after(() => rmSync(dirname(project.folder), { recursive: true, force: true }))

  it('makes at least 38 of 44 classes answer create, get and list, without an edit by hand', async () => {
    const made = await project.ashlar('generate', 'from-entities', '--without-tenants', '--write', ...SHARED)
    expect([made.exit, made.stderr]).to.deep.equal([0, ''])
    expect(made.stdout)
      .to.include('$Odd: no resource: its name cannot be the name of a message\n')
      .and.include('ServerBuilder: no resource: src/resources.ts imports another ServerBuilder\n')
    expect(project.build()).to.deep.equal([])
    cpSync(join(root, 'test/support/projects/first-calls.mjs'), join(project.folder, 'first-calls.mjs'))
    const database = await testDatabase('postgres')
    const env = { ...project.env, DATABASE_URL: database.url }
    const out = execFileSync('node', ['first-calls.mjs'], {
      ...{ cwd: project.folder, env, encoding: 'utf8' },
      stdio: 'pipe',
    })
    await database.drop()
    const results = JSON.parse(out) as Readonly<Record<string, string>>
    const failed = Object.entries(results).filter(([, result]) => result !== 'ok' && result !== 'no create')
    expect(Object.fromEntries(failed)).to.deep.equal({})
    expect(Object.keys(results).length).to.be.at.least(38)
    expect(readFileSync(join(project.folder, 'src/entities.ts'), 'utf8')).to.include(
      "  @ProtoField('serial_no')\n  @Column() serialNO!: string",
    )
  })

  it('makes a module that commands read the classes from', async () => {
    const checked = await project.ashlar('check', '--entities', 'dist/src/resources.js')
    expect(checked.exit).to.equal(0)
    expect(checked.stdout).to.match(/\bParcel\b/)
  })

  it('makes services that the server of the guide serves', async () => {
    await expectList(application(guideBlock('ServerBuilder(options)')))
  })

  it('makes services that the Nest module of the guide serves', async () => {
    const [options] = guideBlock('ServerBuilder(options)').split('const server')
    for (const name of ['common', 'core']) linkPackage(project.folder, `@nestjs/${name}`)
    await expectList(nestApplication(options ?? '', guideBlock('AshlarModule')))
  })

  it('shows an embedded class as a message, and keeps the numbers of its fields', async () => {
    const proto = () => readFileSync(join(project.folder, 'proto/depot.proto'), 'utf8')
    const messageOf = () => /message Depot [\s\S]*?^\}/m.exec(proto())?.[0] ?? ''
    const made = messageOf()
    expect(made).to.equal(`message Depot {
  string id = 1;
  MainAddr main_addr = 2 [(google.api.field_behavior) = REQUIRED];
  Place place = 3 [(google.api.field_behavior) = REQUIRED];

  message MainAddr {
    string street = 1 [(google.api.field_behavior) = REQUIRED];
    optional string city = 2;
    optional Usage usage = 3;
    Geo geo = 4 [(google.api.field_behavior) = REQUIRED];

    enum Usage {
      USAGE_UNSPECIFIED = 0;
      USAGE_HOME = 1;
      USAGE_WORK = 2;
    }

    message Geo {
      double latitude = 1;
      double longitude = 2;
    }
  }

  message Place {
    double latitude = 1;
    double longitude = 2;
  }
}`)
    const numbers = fieldNumbers(proto(), 'Depot')
    expect(Object.fromEntries(numbers)).to.include({
      main_addr: 2,
      'MainAddr.geo': 4,
      'MainAddr.Geo.longitude': 2,
    })
  })

  it('leaves out secrets by their names, says why, and shows a relation as its reference', async () => {
    const made = await project.ashlar(
      'generate',
      'from-entities',
      '--without-tenants',
      '--no-build',
      '--json',
      ...['--only', 'Member', '--only', 'Profile'],
      '--shared',
      'Member',
    )
    const { entities } = JSON.parse(made.stdout) as {
      readonly entities: readonly {
        readonly fields: readonly string[]
        readonly leftOut: readonly object[]
        readonly notes: readonly string[]
      }[]
    }
    expect(entities[0]?.leftOut).to.deep.include({ property: 'passwordHash', reason: 'select: false' })
    expect(entities[0]?.notes).to.deep.equal([
      'no Create: a new row needs passwordHash, which a client cannot send',
    ])
    expect(entities[1]?.fields).to.include('member_id')
    expect(readFileSync(join(project.folder, 'proto/profile.proto'), 'utf8')).to.match(
      /optional string member_id = \d+;/,
    )
  })

  it('keeps the numbers of fields, and writes a new version beside a file that was edited', async () => {
    const all = ['generate', 'from-entities', '--without-tenants', ...SHARED]
    const again = await project.ashlar(...all, '--no-build')
    expect(again.stdout.split('\n')[0]).to.equal('nothing to change: all files are as they would be written')
    expect(again.stdout).to.not.include('  add to ')
    const source = join(project.folder, 'src/entities.ts')
    const text = readFileSync(source, 'utf8')
    writeFileSync(
      source,
      text.replace(
        '  @Column() carrier!: string',
        '  /** In grams. */\n  @Column() weight!: number\n  @Column() carrier!: string',
      ),
    )
    const poll = join(project.folder, 'proto/poll.proto')
    writeFileSync(poll, readFileSync(poll, 'utf8').replace('string question', 'string title'))
    const third = await project.ashlar(...all)
    expect(third.stdout)
      .to.match(/^changed proto\/parcel\.proto$/m)
      .and.match(/^written proto\/poll\.proto\.new$/m)
    const parcel = readFileSync(join(project.folder, 'proto/parcel.proto'), 'utf8')
    expect(parcel)
      .to.match(/string carrier = 5\b/)
      .and.match(/^ {2}\/\/ In grams\.\n {2}int32 weight = 6\b/m)
    expect(readFileSync(poll, 'utf8')).to.include('string title')
  })

  for (const [what, args, error] of [
    [
      'without a choice of tenants',
      [],
      /say whose the rows are: --tenant organizationId \(1 of 44 classes have it\), or --without-tenants/,
    ],
    [
      'with an unknown class',
      ['--without-tenants', '--only', 'Membr'],
      /--only: Membr is not an entity class: did you mean Member\?/,
    ],
    [
      'with an unknown property',
      ['--without-tenants', '--show', 'Member.hash'],
      /--show: Member\.hash is not a property of an entity class/,
    ],
    [
      'with a tenant that no class has',
      ['--tenant', 'orgId'],
      /--tenant: no entity class has a column property orgId/,
    ],
  ] as const)
    it(`fails ${what}`, async () => {
      const { exit, stderr } = await project.ashlar('generate', 'from-entities', '--no-build', ...args)
      expect(exit).to.equal(2)
      expect(stderr).to.match(error)
    })
})
