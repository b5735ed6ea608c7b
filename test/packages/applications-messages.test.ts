import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { enginesFolder } from '../support/databases/better-sqlite3.js'
import { drilling } from '../support/drill.js'
import { type Application, type Applications, describeApplications } from '../support/projects/application.js'
import { TSC } from '../support/projects/application-settings.js'
import { root } from '../support/root.js'

const TOOLS = join(root, 'test/support/applications/builders/node_modules')
const BUF = join(enginesFolder, 'node_modules/@bufbuild/buf-linux-x64/bin/buf')

/** Two files, so that one imports the other. */
const PROTOS = {
  'proto/people.proto': `syntax = "proto3";
    package notes.v1;
    message Person { string name = 1; }`,
  'proto/notes.proto': `syntax = "proto3";
    package notes.v1;
    import "ashlar/api/v1/annotations.proto";
    import "google/api/annotations.proto";
    import "people.proto";
    message Note { string id = 1; string text = 2; Person author = 3; }
    message CreateNoteRequest { Note note = 1; }
    service NoteService {
      rpc CreateNote(CreateNoteRequest) returns (Note) {
        option (google.api.http) = { post: "/v1/notes", body: "note" };
        option (ashlar.api.v1.rule) = { verb: "create", resource: "note" };
      }
    }`,
  'buf.yaml': `version: v2
modules:
  - path: proto
  - path: node_modules/ashlar-annotations/proto
`,
}

const mainOf = (extension: string): string => `
import { memoryRepositoryOf, ServerBuilder } from 'ashlar'
import { Resource, TenantScoped } from 'ashlar/decorators'
import { testServer } from 'ashlar/testing'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { NoteSchema, NoteService } from './gen/notes_pb${extension}'
import { type Person } from './gen/people_pb${extension}'

@Resource({ message: NoteSchema })
@Entity('notes')
@TenantScoped()
class Note {
  @PrimaryColumn() id!: string
  @Column() text!: string
  @Column({ type: 'simple-json', nullable: true }) author?: Person
  accountId!: string
}

async function main(): Promise<void> {
  const builder = new ServerBuilder().authorizer({ authorize: () => true }).register(NoteService, new (memoryRepositoryOf(Note))())
  const server = await testServer(builder)
  const client = server.as({ tenant: 'acme', subject: 'ada' }).client(NoteService)
  const { author } = await client.createNote({ note: { text: 'a', author: { name: 'Ada' } } })
  console.log('created by ' + author?.name)
  await server.stop()
}
void main()
`

interface Setting {
  readonly modules: 'commonjs' | 'nodenext' | 'esnext'
  readonly target: 'ts' | 'js' | 'js+dts'
  readonly extension: 'none' | 'js' | 'ts'
  /** Of the generator. */
  readonly also?: string
  /** Of the compiler. */
  readonly flags?: readonly string[]
}

const REWRITTEN = ['--rewriteRelativeImportExtensions']
const SETTINGS: readonly Setting[] = [
  { modules: 'commonjs', target: 'ts', extension: 'none' },
  { modules: 'commonjs', target: 'ts', extension: 'js' },
  { modules: 'commonjs', target: 'ts', extension: 'ts', flags: REWRITTEN },
  { modules: 'commonjs', target: 'js+dts', extension: 'none', also: 'js_import_style=legacy_commonjs' },
  { modules: 'commonjs', target: 'js+dts', extension: 'js', also: 'js_import_style=legacy_commonjs' },
  { modules: 'commonjs', target: 'js', extension: 'none', also: 'js_import_style=legacy_commonjs' },
  { modules: 'nodenext', target: 'ts', extension: 'js' },
  { modules: 'nodenext', target: 'ts', extension: 'ts', flags: REWRITTEN },
  { modules: 'nodenext', target: 'js+dts', extension: 'js' },
  { modules: 'nodenext', target: 'js', extension: 'js' },
  { modules: 'esnext', target: 'ts', extension: 'none' },
]

/** Registers what ts-proto and protobuf.js have generated, and prints what the start says. */
const OTHERS = `
import { memoryRepositoryOf, ServerBuilder } from 'ashlar'
import { Resource, TenantScoped } from 'ashlar/decorators'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Note as ofTsProto, NoteServiceService } from './ts-proto/notes'
import { notes } from './protobuf-js/notes'

function start(message: unknown, service: unknown): void {
  try {
    @Resource({ message: message as never })
    @Entity('notes')
    @TenantScoped()
    class Note {
      @PrimaryColumn() id!: string
      @Column() text!: string
      accountId!: string
    }
    new (memoryRepositoryOf(Note))()
  } catch (error) {
    console.log(String(error))
  }
  try {
    new ServerBuilder({ grpcAddr: '127.0.0.1:0' }).register(service as never, {} as never).build()
  } catch (error) {
    console.log(String(error))
  }
}
start(ofTsProto, NoteServiceService)
start(notes.v1.Note, notes.v1.NoteService)
`

if (drilling && process.platform === 'linux' && process.arch === 'x64')
  describeApplications('messages of an application', 'builders', (applications) => {
    for (const { modules, target, extension, also, flags = [] } of SETTINGS) {
      const name = `${modules}-${target}-${extension}`
      const what = target === 'js' ? 'work, and have no types,' : 'work'
      it(`${what} with ${modules}, target=${target} and import_extension=${extension}`, () => {
        const application = written(applications(), name, modules === 'commonjs' ? 'commonjs' : 'module')
        const imported = { none: '', js: '.js', ts: target === 'ts' ? '.ts' : '.js' }[extension]
        application.write({ 'src/main.ts': mainOf(imported) })
        generate(application, 'protoc-gen-es', 'src/gen', [
          ...[`target=${target}`, `import_extension=${extension}`, ...(also === undefined ? [] : [also])],
          ...['ashlar', 'google'].map((one) => `rewrite_imports=./${one}/**/*_pb.js:ashlar-annotations`),
        ])
        const compiled = compilation(modules, flags)
        // It writes the program all the same.
        if (target === 'js')
          expect(application.failed(TSC, compiled)).to.match(/TS7016: .*declaration file .*notes_pb/)
        else application.run(TSC, compiled)
        if (target !== 'ts')
          cpSync(join(application.folder, 'src/gen'), join(application.folder, 'dist/gen'), {
            recursive: true,
          })
        expect(started(application, modules)).to.include('created by Ada')
      })
    }

    it('name files that are not there with target=js+dts and import_extension=ts', () => {
      const application = written(applications(), 'js-ts', 'module')
      generate(application, 'protoc-gen-es', 'src/gen', ['target=js+dts', 'import_extension=ts'])
      expect(application.read('src/gen/notes_pb.js')).to.include('from "./people_pb.ts"')
      expect(existsSync(join(application.folder, 'src/gen/people_pb.ts'))).to.equal(false)
    })

    it('are refused by name when ts-proto or protobuf.js has written them', () => {
      const application = written(applications(), 'others', 'commonjs')
      application.write({ 'src/main.ts': OTHERS })
      const plugin = join(TOOLS, 'ts-proto/protoc-gen-ts_proto')
      generate(application, plugin, 'src/ts-proto', ['outputServices=grpc-js', 'outputTypeAnnotations=true'])
      const protos = ['-p', 'proto', '-p', 'node_modules/ashlar-annotations/proto', 'proto/notes.proto']
      const pbjs = ['-t', 'static-module', '-w', 'commonjs', '-o', 'src/protobuf-js/notes.js', ...protos]
      mkdirSync(join(application.folder, 'src/protobuf-js'))
      application.run('node_modules/protobufjs-cli/bin/pbjs', pbjs)
      const [, ...types] = ['', '-o', 'src/protobuf-js/notes.d.ts', 'src/protobuf-js/notes.js']
      application.run('node_modules/protobufjs-cli/bin/pbts', types)
      application.run(TSC, compilation('commonjs', []))
      cpSync(join(application.folder, 'src/protobuf-js'), join(application.folder, 'dist/protobuf-js'), {
        recursive: true,
      })
      const said = application.run('dist/main.js')
      const schema = 'has to be the schema of a message, such as TaskSchema of what @bufbuild/protoc-gen-es 2'
      const service =
        'register takes the descriptor of a service, such as TaskService of what @bufbuild/protoc-gen-es 2'
      expect(said)
        .to.include(`Note: 1 problem(s)\n  - @Resource: message is notes.v1.Note of ts-proto, and ${schema}`)
        .and.include(`Note: 1 problem(s)\n  - @Resource: message is Note of protobuf.js, and ${schema}`)
        .and.include(`${service} generates, and not notes.v1.NoteService of @grpc/grpc-js`)
        .and.include(`${service} generates, and not NoteService of protobuf.js`)
    })
  })

function written(applications: Applications, name: string, type: 'commonjs' | 'module'): Application {
  applications.link('@grpc/grpc-js', join(root, 'node_modules/@grpc/grpc-js'))
  return applications.written(name, PROTOS, type)
}

function generate(application: Application, plugin: string, out: string, opt: readonly string[]): void {
  const template = { version: 'v2', inputs: [{ directory: 'proto' }], plugins: [{ local: plugin, out, opt }] }
  execFileSync(BUF, ['generate', '--template', JSON.stringify(template)], {
    cwd: application.folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      BUF_CACHE_DIR: join(application.folder, '.cache'),
      PATH: `${join(enginesFolder, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
    },
  })
}

/** What the compiler is called with. */
function compilation(modules: Setting['modules'], flags: readonly string[]): readonly string[] {
  const resolution = { commonjs: 'node10', nodenext: 'nodenext', esnext: 'bundler' }[modules]
  return [
    ...['--module', modules, '--moduleResolution', resolution, '--target', 'ES2022', '--strict'],
    ...['--skipLibCheck', '--experimentalDecorators', '--emitDecoratorMetadata', '--esModuleInterop'],
    ...['--types', 'node', '--rootDir', 'src', '--outDir', 'dist', ...flags, 'src/main.ts'],
  ]
}

/** With `bundler`, imports have no extensions: a bundler makes one file first. */
function started(application: Application, modules: Setting['modules']): string {
  if (modules !== 'esnext') return application.run('dist/main.js')
  const bundle = ['--bundle', '--platform=node', '--format=esm', '--packages=external', '--outfile=main.mjs']
  application.run('node_modules/esbuild/bin/esbuild', ['dist/main.js', ...bundle])
  return application.run('main.mjs')
}
