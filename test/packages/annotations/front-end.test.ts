import { expect } from 'chai'
import { fromBinary, toBinary } from '@bufbuild/protobuf'
import {
  type DescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt'
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { enginesFolder } from '../../support/databases/better-sqlite3.js'
import { compiledWith } from '../../support/projects/compiled-project.js'
import { root } from '../../support/root.js'
import { blocksOf } from '../../support/sources/documents.js'

const BUF = join(enginesFolder, 'node_modules/@bufbuild/buf-linux-x64/bin/buf')
const ANNOTATIONS = join(root, 'packages/annotations')

/** The configurations that the page shows: of modules, of rewritten imports, and of generated ones. */
const [MODULES = '', REWRITTEN = '', INCLUDED = ''] = blocksOf('docs/reference/protos.md')
  .filter(({ language }) => language === 'yaml')
  .map(({ text }) => text)

/** What a front end does with generated code. */
const PROGRAM = `
import { create, fromJsonString, getOption, toJsonString } from '@bufbuild/protobuf'
import { http } from 'ashlar-annotations/google/api/annotations_pb.js'
import { MoneySchema } from 'ashlar-annotations/google/type/money_pb.js'
import { TicketSchema, TicketService } from './gen/tickets_pb.js'
import { Widget_State, WidgetSchema } from './gen/widgets_pb.js'

const widget = create(WidgetSchema, { displayName: 'Anvil', state: Widget_State.ACTIVE })
const { pattern } = getOption(TicketService.method.listTickets, http)
console.log(
  JSON.stringify([
    fromJsonString(WidgetSchema, toJsonString(WidgetSchema, widget)).displayName,
    pattern.value,
    create(MoneySchema, { units: 5n }).$typeName,
    TicketSchema.fields.length > 3,
  ]),
)
`

const suite = process.platform === 'linux' && process.arch === 'x64' ? describe : describe.skip
suite('a front end that generates code', function () {
  let folder: string

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-front-end-'))
    const packed = execFileSync(
      'npm',
      [
        'pack',
        '--ignore-scripts',
        '--json',
        '--pack-destination',
        folder,
        '--workspace',
        'ashlar-annotations',
      ],
      { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    )
    const [{ filename = '' } = {}] = Object.values(JSON.parse(packed) as Record<string, { filename: string }>)
    const installed = join(folder, 'node_modules/ashlar-annotations')
    mkdirSync(installed, { recursive: true })
    execFileSync('tar', ['-xzf', join(folder, filename), '-C', installed, '--strip-components=1'])
    mkdirSync(join(folder, 'node_modules/@bufbuild'))
    symlinkSync(
      join(root, 'node_modules/@bufbuild/protobuf'),
      join(folder, 'node_modules/@bufbuild/protobuf'),
    )
    mkdirSync(join(folder, 'proto'))
    for (const path of ['examples/widgets/widgets.proto', 'test/support/proto/tickets.proto'])
      cpSync(join(root, path), join(folder, 'proto', path.slice(path.lastIndexOf('/') + 1)))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'buf.yaml'), MODULES)
  })

  after(() => rmSync(folder, { recursive: true, force: true }))

  const buf = (...rest: readonly string[]): void => {
    const env = {
      ...process.env,
      BUF_CACHE_DIR: join(folder, '.cache'),
      PATH: `${join(enginesFolder, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
    }
    try {
      execFileSync(BUF, rest, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    } catch (error) {
      throw new Error((error as { stderr: string }).stderr, { cause: error })
    }
  }
  const generate = (configuration: string): readonly string[] => {
    rmSync(join(folder, 'src'), { recursive: true, force: true })
    writeFileSync(join(folder, 'buf.gen.yaml'), configuration)
    buf('generate')
    return readdirSync(join(folder, 'src/gen'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .sort()
  }
  const textsOf = (paths: readonly string[]): string =>
    paths.map((path) => readFileSync(join(folder, 'src/gen', path), 'utf8')).join('\n')

  it('has neither a server nor a driver in its tree', () => {
    expect(readdirSync(join(folder, 'node_modules')).sort()).to.deep.equal([
      '@bufbuild',
      'ashlar-annotations',
    ])
    const { dependencies, peerDependencies } = JSON.parse(
      readFileSync(join(folder, 'node_modules/ashlar-annotations/package.json'), 'utf8'),
    ) as Record<string, object | undefined>
    expect(dependencies).to.equal(undefined)
    expect(Object.keys(peerDependencies ?? {})).to.deep.equal(['@bufbuild/protobuf'])
  })

  it('generates its own files, which compile and run with the imports of the package', () => {
    const paths = generate(REWRITTEN)
    expect(paths).to.deep.equal(['tickets_pb.ts', 'widgets_pb.ts'])
    const imports = [...textsOf(paths).matchAll(/from "([^"]+)"/g)].map(([, path = '']) => path)
    expect(imports.filter((path) => path.startsWith('.'))).to.deep.equal([])
    expect(imports).to.include('ashlar-annotations/buf/validate/validate_pb.js')
    writeFileSync(join(folder, 'src/main.ts'), PROGRAM)
    for (const resolution of ['bundler', 'nodenext'] as const)
      expect(compile(folder, resolution)).to.deep.equal([])
    const said = execFileSync(process.execPath, ['src/main.js'], { cwd: folder, encoding: 'utf8' })
    expect(JSON.parse(said)).to.deep.equal(['Anvil', '/v1/tickets', 'google.type.Money', true])
  })

  it('resolves imports without an extension, which is what protoc-gen-es writes unless it is told otherwise', () => {
    const paths = generate(REWRITTEN.replace('      - import_extension=js\n', ''))
    expect(textsOf(paths)).to.include('"ashlar-annotations/google/api/annotations_pb"')
    expect(compile(folder, 'bundler')).to.deep.equal([])
  })

  it('generates the imports, too, where it wants no package', () => {
    const paths = generate(INCLUDED)
    expect(paths).to.include.members([
      'widgets_pb.ts',
      'google/api/http_pb.ts',
      'buf/validate/validate_pb.ts',
    ])
    expect(textsOf(paths)).to.not.include('ashlar-annotations')
    expect(compile(folder, 'nodenext')).to.deep.equal([])
  })

  it('reads .proto files that say what the generated code says', async () => {
    buf(
      'build',
      'node_modules/ashlar-annotations/proto',
      '--as-file-descriptor-set',
      '--exclude-source-info',
      '-o',
      'all.binpb',
    )
    const { file } = fromBinary(FileDescriptorSetSchema, readFileSync(join(folder, 'all.binpb')))
    const compiled = file.filter(({ name }) => !name.startsWith('google/protobuf/'))
    expect(compiled.length).to.be.above(50)
    const generated = join(folder, 'node_modules/ashlar-annotations/gen')
    for (const one of compiled) {
      const code = join(generated, one.name.replace(/\.proto$/, '_pb.js'))
      expect(existsSync(code), code).to.equal(true)
      const exports = (await import(pathToFileURL(code).href)) as Record<
        string,
        { readonly proto: FileDescriptorProto }
      >
      const [, { proto } = undefined as never] = Object.entries(exports).find(([name]) =>
        name.startsWith('file_'),
      )!
      expect(bytesOf(one), one.name).to.equal(bytesOf(proto))
    }
  })

  it('gets a package of the version that the server depends on', () => {
    const server = manifestOf(root)
    const { version, exports } = manifestOf(ANNOTATIONS)
    expect(server.dependencies['ashlar-annotations']).to.equal(`^${version}`)
    expect(version).to.equal(server.version)
    expect(Object.keys(exports)).to.deep.equal(['./package.json', './*.ts', './*.js', './*'])
  })
})

interface Manifest {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly exports: object
}

const manifestOf = (path: string): Manifest =>
  JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Manifest

/**
 * Bytes to compare. Names in JSON follow from those of the fields; the compiler and generated code write them
 * differently.
 */
const bytesOf = (file: FileDescriptorProto): string => {
  const copy = fromBinary(FileDescriptorProtoSchema, toBinary(FileDescriptorProtoSchema, file))
  if (copy.syntax === 'proto2') copy.syntax = ''
  for (const field of [...copy.extension, ...copy.messageType.flatMap(fieldsIn)]) field.jsonName = ''
  return Buffer.from(toBinary(FileDescriptorProtoSchema, copy)).toString('base64')
}

const fieldsIn = ({ field, nestedType, extension }: DescriptorProto): FieldDescriptorProto[] => [
  ...field,
  ...extension,
  ...nestedType.flatMap(fieldsIn),
]

/** Compiles the sources where they are, strictly. Returns what the compiler says. */
function compile(folder: string, resolution: 'bundler' | 'nodenext'): readonly string[] {
  const isBundled = resolution === 'bundler'
  return compiledWith(
    folder,
    {
      target: 'es2022',
      module: isBundled ? 'esnext' : 'nodenext',
      moduleResolution: resolution,
      lib: ['es2022', 'dom'],
      types: [],
      // The declarations of packages are read once.
      skipLibCheck: isBundled,
      strict: true,
    },
    ['src'],
  )
}
