import { expect } from 'chai'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { engineBranches } from './support/sources/engine-branches.js'
import { parentImports, roomCycles } from './support/sources/rooms.js'
import { root } from './support/root.js'
import { projectFiles, type SourceFile, sourceFiles } from './support/sources/source-files.js'

/** Who may import whom: the first row whose folder (or file) holds a file is its row. */
const MAY_IMPORT: readonly { readonly from: string; readonly own: readonly string[] }[] = [
  { from: 'lib/field-violations.ts', own: [] },
  { from: 'lib/status-codes.ts', own: [] },
  { from: 'lib/error-detail.ts', own: ['lib/field-violations.ts'] },
  { from: 'lib/declaration-error.ts', own: [] },
  { from: 'lib/option-error.ts', own: [] },
  {
    from: 'lib/errors.ts',
    own: [
      'lib/declaration-error.ts',
      'lib/option-error.ts',
      'lib/error-detail.ts',
      'lib/field-violations.ts',
      'lib/status-codes.ts',
    ],
  },
  { from: 'lib/bounded-cache.ts', own: [] },
  { from: 'lib/thenable.ts', own: [] },
  { from: 'lib/call-end.ts', own: [] },
  { from: 'lib/frozen-value.ts', own: [] },
  { from: 'lib/principal.ts', own: ['lib/frozen-value.ts'] },
  { from: 'lib/context.ts', own: ['lib/call-end.ts', 'lib/principal.ts'] },
  { from: 'lib/bounds', own: ['lib/bounds', 'lib/text', 'lib/errors.ts'] },
  { from: 'lib/if-match.ts', own: ['lib/errors.ts', 'lib/call.ts'] },
  {
    from: 'lib/call.ts',
    own: [
      ...['lib/errors.ts', 'lib/context.ts', 'lib/bounds', 'lib/resource/messages/message-limits.ts'],
      'lib/gateway/json/writer.ts',
    ],
  },
  { from: 'lib/error-details.ts', own: ['lib/errors.ts', 'lib/error-detail.ts'] },
  { from: 'lib/gen', own: ['lib/gen'] },
  { from: 'lib/text', own: ['lib/text'] },
  { from: 'lib/faults', own: ['lib/faults'] },
  { from: 'lib/files', own: ['lib/files', 'lib/errors.ts'] },
  {
    from: 'decorators',
    own: [
      'decorators',
      'lib/errors.ts',
      'lib/text/snake-case.ts',
      'lib/resource/kinds',
      'lib/resource/facets',
    ],
  },
  {
    from: 'lib/resource/facets',
    own: ['lib/resource/facets', 'lib/resource/kinds', 'lib/resource/enums'],
  },
  {
    from: 'lib/resource/kinds',
    own: [
      'lib/resource/kinds',
      'lib/resource/enums',
      'lib/resource/messages/local-field.ts',
      'lib/resource/free-form',
      'lib/text',
      'lib/errors.ts',
    ],
  },
  {
    from: 'lib/resource',
    own: [
      ...['lib/resource', 'lib/text', 'lib/errors.ts', 'lib/thenable.ts', 'lib/faults', 'decorators'],
      'lib/bounds/response-bytes.ts',
    ],
  },
  {
    from: 'lib/secrets',
    own: ['lib/secrets', 'lib/errors.ts', 'lib/bounds', 'lib/files'],
  },
  {
    from: 'lib/persistence',
    own: [
      ...[
        'lib/persistence',
        'lib/bounded-cache.ts',
        'lib/errors.ts',
        'lib/context.ts',
        'lib/call-end.ts',
        'lib/thenable.ts',
        'lib/faults',
        'lib/files',
      ],
      ...['lib/text', 'lib/resource', 'lib/secrets', 'decorators'],
    ],
  },
  {
    from: 'lib/gateway',
    own: [
      ...[
        'lib/gateway',
        'lib/bounded-cache.ts',
        'lib/errors.ts',
        'lib/context.ts',
        'lib/call.ts',
        'lib/bounds',
        'lib/if-match.ts',
        'lib/error-details.ts',
      ],
      ...['lib/faults', 'lib/text', 'lib/resource'],
    ],
  },
  {
    from: 'lib/openapi',
    own: [...['lib/openapi', 'lib/gateway', 'lib/resource', 'lib/errors.ts', 'lib/error-details.ts']],
  },
  {
    from: 'lib/migrations',
    own: [
      'lib/migrations',
      'lib/files/imported-module.ts',
      'lib/files/package-file.ts',
      'lib/text',
      'lib/errors.ts',
      'lib/persistence/engines/postgres/cancel-request.ts',
    ],
  },
  {
    from: 'lib/server',
    own: [
      ...[
        'lib/server',
        'lib/errors.ts',
        'lib/field-violations.ts',
        'lib/context.ts',
        'lib/call.ts',
        'lib/call-end.ts',
        'lib/bounds',
        'lib/thenable.ts',
        'lib/bounded-cache.ts',
        'lib/if-match.ts',
        'lib/error-details.ts',
      ],
      ...['lib/faults', 'lib/files', 'lib/text', 'lib/gateway', 'lib/openapi', 'lib/resource', 'lib/gen'],
      ...[
        'lib/persistence/contract/related-options.ts',
        'lib/persistence/contract/update-mask.ts',
        'lib/persistence/contract/precondition.ts',
        'lib/persistence/repository/repository-view.ts',
        'lib/persistence/repository/repository-operation.ts',
        'lib/persistence/contract/batch.ts',
        'lib/persistence/contract/repository.ts',
        'lib/persistence/contract/scope.ts',
        'lib/persistence/contract/row-lock.ts',
        'lib/persistence/bytes/too-many-bytes.ts',
        'lib/persistence/bytes/counted-bytes.ts',
        'lib/persistence/query/filter-template.ts',
        'lib/persistence/query/page-size.ts',
        'lib/persistence/relations/relations-named.ts',
        'lib/persistence/sql/transaction.ts',
        'lib/persistence/engines/errors/constraint-error.ts',
        'lib/persistence/engines/sql-text.ts',
      ],
    ],
  },
  {
    from: 'lib/events',
    own: [
      ...[
        'lib/events',
        'lib/bounds/timer-limit.ts',
        'lib/errors.ts',
        'lib/context.ts',
        'lib/faults',
        'lib/text',
        'lib/persistence/outbox',
      ],
      ...[
        'lib/persistence/dialects/values/pad-to-power-of-two.ts',
        'lib/persistence/engines/executor/executor.ts',
        'lib/persistence/engines/sql-text.ts',
        'lib/persistence/memory/memory-database.ts',
        'lib/persistence/memory/memory-outbox.ts',
        'lib/persistence/sql/transaction.ts',
        'lib/persistence/sql/transaction-context.ts',
      ],
    ],
  },
  {
    from: 'lib/client',
    own: [
      ...['lib/client', 'lib/errors.ts', 'lib/error-details.ts', 'lib/call.ts', 'lib/bounds/timer-limit.ts'],
      ...['lib/gateway/json/type-registry.ts', 'lib/server/grpc/metadata.ts'],
      ...['lib/resource/messages/local-field.ts', 'lib/resource/messages/http-paths.ts'],
      'lib/resource/messages/descriptor.ts',
    ],
  },
  { from: 'lib/nest', own: ['lib/nest', 'ENTRIES', 'lib/errors.ts', 'lib/context.ts'] },
  {
    from: 'lib/testing',
    own: [
      ...['lib/testing', 'ENTRIES', 'lib/errors.ts', 'lib/context.ts'],
      ...['lib/server/served-methods.ts', 'lib/resource/messages/local-field.ts'],
      'lib/resource/messages/go-options.ts',
      ...['lib/resource/keys/key-part.ts', 'lib/resource/kinds/kinds.ts'],
      ...['lib/server/methods/scope/wire-keys.ts', 'lib/text/snake-case.ts'],
    ],
  },
  { from: 'lib/index.ts', own: ['lib', 'decorators'] },
  {
    from: 'cli',
    own: [
      'cli',
      'ENTRIES',
      'lib/index.ts',
      'lib/text/nearest-names.ts',
      'lib/text/command-line.ts',
      'lib/text/shell-word.ts',
      'lib/text/snake-case.ts',
      'lib/text/table-difference.ts',
      'lib/migrations/files/dialect-name.ts',
      'lib/migrations/files/search-migrations.ts',
      'lib/files/imported-module.ts',
      'lib/files/package-file.ts',
      'lib/gateway/routing/path-template.ts',
      'lib/resource/messages/http-paths.ts',
      'lib/resource/typeorm/tenant-names.ts',
    ],
  },
  { from: 'examples', own: ['examples', 'ENTRIES', 'lib/index.ts'] },
]

/** The index files of `exports`, the package's own `lib/index.ts` aside. */
const ENTRIES = [
  ...['decorators/index.ts', 'lib/persistence/index.ts', 'lib/secrets/index.ts', 'lib/server/index.ts'],
  ...[
    'lib/events/index.ts',
    'lib/client/index.ts',
    'lib/gateway/index.ts',
    'lib/migrations/index.ts',
    'lib/nest/index.ts',
    'lib/testing/index.ts',
  ],
]

/**
 * Which folders know a package. `types` allows type imports and lazy ones; `files` says how many files may
 * know it.
 */
const OWNERS: Readonly<
  Record<
    string,
    { readonly in: readonly string[]; readonly types?: readonly string[]; readonly files?: number }
  >
> = {
  typeorm: {
    in: [
      ...['decorators', 'lib/resource', 'lib/persistence', 'examples'],
      ...['cli/from-entities', 'cli/from-database'],
    ],
    types: ['lib/events', 'lib/nest', 'cli/outbox'],
  },
  'reflect-metadata': { in: ['decorators', 'examples', 'cli/from-entities', 'cli/from-database'] },
  'ashlar-idp': { in: ['examples/sign-in'] },
  'openid-client': { in: ['examples/sign-in'] },
  '@bufbuild/protobuf': {
    in: [
      ...['lib/resource', 'lib/gateway', 'lib/openapi', 'lib/server', 'lib/gen', 'lib/testing', 'examples'],
      ...[
        'lib/client',
        'lib/call.ts',
        'lib/bounds',
        'lib/if-match.ts',
        'lib/error-details.ts',
        'cli/generate',
        'cli/proto',
      ],
    ],
    types: ['decorators', 'lib/nest', 'lib/error-detail.ts'],
  },
  'ashlar-annotations': {
    in: [
      ...['lib/resource', 'lib/gateway', 'lib/openapi', 'lib/server', 'lib/testing', 'examples'],
      ...['lib/client', 'lib/call.ts', 'lib/error-details.ts', 'cli/generate', 'cli/proto'],
    ],
  },
  '@connectrpc/connect': { in: [], types: ['lib/server/connect', 'lib/client/transports'] },
  chokidar: { in: ['lib/files'], files: 1 },
  pg: { in: ['lib/migrations'], types: ['lib/persistence', 'lib/events/log'] },
  '@nats-io/jetstream': { in: [], types: ['lib/events/nats'] },
  '@nats-io/transport-node': { in: [], types: ['lib/events/nats'] },
  mysql2: { in: ['lib/migrations'], types: ['lib/persistence'] },
  sqlite3: { in: [], types: ['lib/persistence'] },
  'better-sqlite3': { in: [], types: ['lib/persistence'] },
  'nice-grpc': { in: ['lib/server', 'lib/testing', 'examples'] },
  'nice-grpc-common': { in: ['lib/server'] },
  '@grpc/grpc-js': { in: ['lib/server', 'lib/client/transports', 'lib/testing', 'examples'] },
  jose: { in: ['lib/server'] },
  '@opentelemetry/api': { in: ['lib/server'] },
  '@opentelemetry/exporter-prometheus': { in: ['lib/server/observability'] },
  '@opentelemetry/sdk-metrics': { in: ['lib/server/observability'] },
  '@bufbuild/protovalidate': { in: [], types: ['lib/server/validation'], files: 1 },
  redis: { in: [], types: ['lib/server/idempotency'], files: 1 },
  '@nestjs/common': { in: ['lib/nest', 'examples'] },
  '@oclif/core': { in: ['cli'] },
  '@babel/parser': { in: ['cli/from-entities'], files: 1 },
  yaml: { in: ['cli'], types: ['lib/server/authz'] },
  'node:http': {
    in: ['lib/gateway', 'lib/testing', 'lib/secrets/vault', 'cli'],
    types: ['lib/server', 'lib/nest'],
  },
  'node:zlib': { in: ['lib/gateway'] },
}

/** What loading a file must not drag in, lazily loaded parts aside. */
const STAYS_OUT: readonly { readonly of: string; readonly not: readonly string[] }[] = [
  {
    of: 'decorators/',
    not: ['nice-grpc', '@grpc/grpc-js', 'pg', 'mysql2', 'sqlite3', 'better-sqlite3', 'chokidar'],
  },
  { of: 'lib/resource/', not: ['nice-grpc', '@grpc/grpc-js', 'pg', 'mysql2', 'sqlite3', 'better-sqlite3'] },
  {
    of: 'lib/persistence/',
    not: ['nice-grpc', '@grpc/grpc-js', 'pg', 'mysql2', 'sqlite3', 'better-sqlite3'],
  },
  { of: 'lib/secrets/', not: ['nice-grpc', '@grpc/grpc-js', 'typeorm', '@bufbuild/protobuf'] },
  {
    of: 'lib/client/',
    not: ['typeorm', 'nice-grpc', 'reflect-metadata', '@connectrpc/connect', 'chokidar', 'yaml'],
  },
  { of: 'lib/index.ts', not: ['@nestjs/common'] },
  { of: 'lib/server/', not: ['pg', 'mysql2', 'sqlite3', 'better-sqlite3', 'redis', 'chokidar', 'yaml'] },
  {
    of: 'cli/commands/',
    not: ['typeorm', 'nice-grpc', '@grpc/grpc-js', 'pg', 'mysql2', '@bufbuild/protobuf'],
  },
]

const AT_THE_ROOT = [
  ...[
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'ormconfig.ts',
    'README.md',
    'AGENTS.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'LICENSE',
  ],
  ...['SECURITY.md', 'eslint.config.js', '.npmrc', '.gitignore', '.git', '.ci'],
  ...[
    'lib',
    'decorators',
    'cli',
    'migrations',
    'packages',
    'test',
    'proto',
    'examples',
    'bench',
    'docs',
    'bin',
  ],
]

const MOST_FILES = 17
/** Such as `new.ts`, the name of three commands. */
const MOST_REPEATED_NAMES = 12
/** As code has, which Prettier holds. */
const WIDEST_COMMENT = 110
/** Folders whose files have the same names, one for each engine. */
const OF_AN_ENGINE = /\/(mysql|postgres|sqlite)\//
/** Tests of no single folder, and what tests are made with. */
const TESTS_OF_ALL = /^test\/(conformance|drills|support)(\/|$)/
/** The folders of the engines, their names, and where the engine of a connection string is picked. */
const ENGINES_OF_MIGRATIONS =
  /^lib\/migrations\/((postgres|mysql)\/|engines\.ts$|files\/dialect-name\.ts$)|^cli\/new\/databases\.ts$/
const NOTHING_IS_CALLED = /(^|[/-])(utils?|common|shared|core|base|helpers?|managers?)([./-]|$)/

describe('the architecture', () => {
  const shipped = sourceFiles('lib', 'decorators', 'cli')
  const handWritten = shipped.filter(({ path }) => !isGenerated(path))
  const examples = sourceFiles('examples')
  const byPath = new Map([...shipped, ...examples].map((file) => [file.path, file]))

  it('has a row for every file', () => {
    expect(
      [...shipped, ...examples].filter(({ path }) => rowOf(path) === undefined).map(({ path }) => path),
    ).to.deep.equal([])
  })

  for (const row of MAY_IMPORT)
    it(`lets ${row.from} import ${row.own.join(', ') || 'nothing of the project'}`, () => {
      const allowed = row.own.flatMap((one) => (one === 'ENTRIES' ? ENTRIES : one))
      const wrong = [...shipped, ...examples]
        .filter(({ path }) => rowOf(path) === row)
        .flatMap(({ path, imports }) =>
          imports
            .filter(({ isPackage, to }) => !isPackage && !allowed.some((one) => holds(one, to)))
            .map(({ to }) => `${path} → ${to}`),
        )
      expect(wrong).to.deep.equal([])
    })

  it('lets nobody in lib import lib/index.ts', () => {
    const importers = handWritten.filter(
      ({ path, imports }) => !path.startsWith('cli/') && imports.some(({ to }) => to === 'lib/index.ts'),
    )
    expect(importers.map(({ path }) => path)).to.deep.equal([])
  })

  it('knows who owns every package', () => {
    const strangers = [...shipped, ...examples].flatMap(({ path, imports }) =>
      imports
        .filter(
          ({ isPackage, to }) =>
            isPackage && OWNERS[to] === undefined && !to.startsWith('node:') && to !== 'ashlar',
        )
        .map(({ to }) => `${path} → ${to}`),
    )
    expect(strangers).to.deep.equal([])
  })

  for (const [name, owner] of Object.entries(OWNERS))
    it(`keeps ${name} in ${[...owner.in, ...(owner.types ?? []).map((one) => `${one} (types)`)].join(', ')}`, () => {
      const users = [...shipped, ...examples].flatMap((file) =>
        file.imports
          .filter(({ to, isPackage }) => isPackage && to === name)
          .map(({ how }) => ({ path: file.path, how })),
      )
      const wrong = users.filter(
        ({ path, how }) =>
          !owner.in.some((one) => holds(one, path)) &&
          !(how !== 'value' && (owner.types ?? []).some((one) => holds(one, path))),
      )
      expect(wrong.map(({ path }) => path)).to.deep.equal([])
      const runners = new Set(users.filter(({ how }) => how !== 'type').map(({ path }) => path))
      if (owner.files !== undefined)
        expect([...runners].length, [...runners].join(', ')).to.be.at.most(owner.files)
    })

  for (const { of, not } of STAYS_OUT)
    it(`loads none of ${not.join(', ')} with ${of}`, () => {
      const loads = handWritten
        .filter(({ path }) => path.startsWith(of))
        .flatMap(({ path }) =>
          loadedBy(path, byPath)
            .filter((name) => not.includes(name))
            .map((name) => `${path} → ${name}`),
        )
      expect(loads).to.deep.equal([])
    })

  it('has no cycle of imports that run', () => {
    expect(cycles(handWritten)).to.deep.equal([])
  })

  it('has no cycle between rooms, imports of types included', () => {
    expect(roomCycles(handWritten)).to.deep.equal([])
  })

  it('has no folder that imports from the folder around it, topics of the command line aside', () => {
    const imports = parentImports(handWritten.filter(({ path }) => !path.startsWith('cli/')))
    expect(imports).to.deep.equal([])
  })

  it(`has no folder of more than ${MOST_FILES} files`, () => {
    const counts = new Map<string, number>()
    for (const { path } of [...handWritten, ...sourceFiles('test')])
      counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1)
    expect([...counts].filter(([, count]) => count > MOST_FILES)).to.deep.equal([])
  })

  it('has tests where the source is: a folder of tests mirrors one, or holds child processes', () => {
    const folders = new Set(sourceFiles('test').map(({ path }) => posix.dirname(path)))
    const sourceOf = (folder: string) => folder.replace(/^test\/?/, '').replace(/\/?hosts$/, '')
    const strange = [...folders].filter((folder) => {
      const source = sourceOf(folder)
      return !TESTS_OF_ALL.test(folder) && !['lib', '.'].some((top) => existsSync(join(root, top, source)))
    })
    expect(strange).to.deep.equal([])
  })

  for (const text of [
    "if (dialect.name === 'postgres') send()",
    "if ('mysql' != options.type) send()",
    "switch (name) { case 'sqlite': send() }",
    'const isMysql = true',
    'let begin: Record<DialectName, string>',
    'type Begin = { readonly [name in DialectName]: string }',
    'send(BEGIN[database.dialect.name])',
    "const BEGIN = { postgres: 'BEGIN', sqlite: 'BEGIN IMMEDIATE' }",
    "if (['mysql', 'mariadb'].includes(name)) send()",
  ])
    it(`finds a decision by the engine in ${text}`, () => {
      expect(engineBranches('x.ts', text)).to.not.deep.equal([])
    })

  it('finds none in a capability', () => {
    expect(engineBranches('x.ts', 'if (dialect.can.returning) send(dialect.begin)')).to.deep.equal([])
  })

  it('decides by the database engine in its dialect and its executor only', () => {
    const branches = handWritten
      .filter(
        ({ path }) =>
          /^lib\/(events|persistence|server)\//.test(path) && !/\/(dialects|engines)\//.test(path),
      )
      .flatMap(({ path, text }) => engineBranches(path, text).map((line) => `${path}:${line}`))
    expect(branches).to.deep.equal([])
  })

  it('migrates each engine by the rules of one object: only the folders of the engines decide by the engine', () => {
    const branches = handWritten
      .filter(({ path }) => /^(lib\/migrations|cli)\//.test(path) && !ENGINES_OF_MIGRATIONS.test(path))
      .flatMap(({ path, text }) => engineBranches(path, text).map((line) => `${path}:${line}`))
    expect(branches).to.deep.equal([])
  })

  it(`has at most ${MOST_REPEATED_NAMES} names of files that repeat, those of engines and index.ts aside`, () => {
    const counts = new Map<string, number>()
    for (const { path } of sourceFiles('lib', 'decorators', 'cli', 'packages')) {
      if (/\/gen\//.test(path) || OF_AN_ENGINE.test(path) || path.endsWith('/index.ts')) continue
      counts.set(posix.basename(path), (counts.get(posix.basename(path)) ?? 0) + 1)
    }
    const repeated = [...counts].filter(([, count]) => count > 1).map(([name]) => name)
    expect(repeated.length, repeated.join(', ')).to.be.at.most(MOST_REPEATED_NAMES)
  })

  it(`has comments of at most ${WIDEST_COMMENT} columns, examples and instructions for tools aside`, () => {
    const isComment = /^\s*(\/\/ (?!eslint-)|\/?\*(?! {3,}| `))/
    const wide = sourceFiles('lib', 'decorators', 'cli', 'packages', 'test')
      .filter(({ path }) => !isGenerated(path))
      .flatMap(({ path, text }) =>
        text
          .split('\n')
          .flatMap((line, at) =>
            line.length > WIDEST_COMMENT && isComment.test(line) ? [`${path}:${at + 1}`] : [],
          ),
      )
    expect(wide).to.deep.equal([])
  })

  it('has each folder of lib on the map of CONTRIBUTING.md', () => {
    const rows = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').match(/^\| `.*$/gm) ?? []
    const folders = new Set(sourceFiles('lib').map(({ path }) => posix.dirname(path)))
    const unnamed = [...folders].filter((folder) => {
      const [, top, sub] = folder.split('/')
      const row = rows.find((one) => one.startsWith(`| \`lib/${top}\` `))
      return top !== undefined && !(row !== undefined && (sub === undefined || row.includes(`\`${sub}\``)))
    })
    expect(unnamed).to.deep.equal([])
  })

  it('names files in kebab-case, none of them util, common, helper, manager, core, base or shared', () => {
    const files = sourceFiles('lib', 'decorators', 'cli', 'examples', 'bench', 'test').filter(
      ({ path }) => !isGenerated(path),
    )
    const wrong = files.filter(({ path }) => NOTHING_IS_CALLED.test(path) || !/^[a-z0-9./-]+$/.test(path))
    expect(wrong.map(({ path }) => path)).to.deep.equal([])
  })

  it('nests folders at most four deep, topics of the command line aside', () => {
    const deep = handWritten.filter(({ path }) => !path.startsWith('cli/') && path.split('/').length > 5)
    expect(deep.map(({ path }) => path)).to.deep.equal([])
  })

  it('has default exports in commands and in what a command loads, and re-exports by name only', () => {
    const all = sourceFiles('lib', 'decorators', 'cli', 'examples', 'bench', 'test').filter(
      ({ path }) => !isGenerated(path),
    )
    const wrong = all.filter(
      (file) =>
        (file.hasDefaultExport && !/^(cli\/commands|test\/cli\/migrate\/hosts)\//.test(file.path)) ||
        file.hasExportStar,
    )
    expect(wrong.map(({ path }) => path)).to.deep.equal([])
  })

  it('has commands that extend Verb and no class of another command', () => {
    const parents = handWritten
      .filter(({ path }) => path.startsWith('cli/commands/') && path !== 'cli/commands/completion.ts')
      .map(({ path, text }) => `${path} ${/^export default class \w+ extends (\w+)/m.exec(text)?.[1]}`)
    expect(parents.filter((line) => !line.endsWith(' Verb'))).to.deep.equal([])
  })

  it('throws errors that say whose mistake it was', () => {
    const wrong = handWritten.filter(
      ({ path, text }) => !path.startsWith('cli/') && /throw new Error\(/.test(text),
    )
    expect(wrong.map(({ path }) => path)).to.deep.equal([])
  })

  it('keeps the top of the repository to what people expect there', () => {
    const ignored = /^(node_modules|dist.*|coverage|\.cache|.*\.tgz)$/
    expect(
      readdirSync(root).filter((name) => !AT_THE_ROOT.includes(name) && !ignored.test(name)),
    ).to.deep.equal([])
  })

  it('names no registry host and no path of a machine', () => {
    const hosts = [
      'registry.npm' + 'js.org',
      'registry.yarn' + 'pkg.com',
      'npm' + 'mirror.com',
      'npm.pkg.' + 'github.com',
    ]
    const paths = new RegExp(
      ['(^|[^\\w.])/(wo' + 'rk/', 'ro' + 'ot/', 'ho' + 'me/[a-z]', 'Us' + 'ers/[A-Za-z])'].join('|'),
    )
    const wrong = projectFiles('.').flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      if (text.includes('\0')) return []
      return [
        ...hosts.filter((host) => text.includes(host)),
        ...text.split('\n').filter((line) => paths.test(line)),
        ...(path.endsWith('package-lock.json') && /"resolved": "http/.test(text) ? ['resolved'] : []),
      ].map((what) => `${path}: ${what.trim().slice(0, 100)}`)
    })
    expect(wrong).to.deep.equal([])
  })

  it('lists entries that exist', () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      exports: Record<string, unknown>
    }
    const named = Object.entries(exports)
      .filter(([path]) => !path.includes('*'))
      .map(([, entry]) => entry)
    const sources = named.flatMap((entry) =>
      typeof entry === 'string'
        ? []
        : [(entry as { default: string }).default.replace('./dist/', '').replace(/\.js$/, '.ts')],
    )
    expect(sources.filter((source) => !existsSync(join(root, source)))).to.deep.equal([])
    expect(sources.filter((source) => source !== 'lib/index.ts' && !ENTRIES.includes(source))).to.deep.equal(
      [],
    )
  })
})

function holds(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

function rowOf(path: string): (typeof MAY_IMPORT)[number] | undefined {
  return MAY_IMPORT.find(({ from }) => holds(from, path))
}

function isGenerated(path: string): boolean {
  return /(^|\/)gen\/.*_pb(\.d)?\.ts$/.test(path)
}

/** Packages that run when `path` is loaded. */
function loadedBy(
  path: string,
  files: ReadonlyMap<string, SourceFile>,
  seen = new Set<string>(),
): readonly string[] {
  if (seen.has(path)) return []
  seen.add(path)
  const running = (files.get(path)?.imports ?? []).filter(({ how }) => how === 'value')
  return running.flatMap(({ to, isPackage }) => (isPackage ? [to] : loadedBy(to, files, seen)))
}

/** Every ring of files that import each other, by one of its walks. */
function cycles(files: readonly SourceFile[]): readonly string[] {
  const next = new Map(
    files.map(({ path, imports }) => [
      path,
      imports.filter(({ how, isPackage }) => how === 'value' && !isPackage),
    ]),
  )
  const done = new Set<string>()
  const found: string[] = []
  const walk = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) found.push([...way.slice(way.indexOf(path)), path].join(' → '))
    if (way.includes(path) || done.has(path)) return
    for (const { to } of next.get(path) ?? []) walk(to, [...way, path])
    done.add(path)
  }
  for (const { path } of files) walk(path, [])
  return found
}
