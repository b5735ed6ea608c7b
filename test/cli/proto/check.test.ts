import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { breakingChanges } from '../../../cli/proto/breaking-changes.js'
import { BUF, hasBuf } from '../../support/projects/linked-project.js'
import { root } from '../../support/root.js'
import { drilling } from '../../support/drill.js'
import { guideSection } from '../../support/sources/migration-guides.js'
import { runCommand } from '../../support/run-command.js'

const PROTO = `syntax = "proto3";
package a.v1;
message Task {
  string title = 1;
  int32 size = 2;
}
`

/** A buf.yaml, where the options of google.api can be imported. */
const WITH_OPTIONS = 'version: v2\nmodules: [{ path: proto }, { path: node_modules/annotations }]\n'

describe('ashlar proto check', function () {
  let repository: string
  let folder: string
  /** Of the .proto files as they are written. To compare with it costs less than with a commit. */
  let image: string
  const makeImage = () => execFileSync(BUF, ['build', '--output', image], { cwd: folder })
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd: repository,
      encoding: 'utf8',
    })
  const write = (text: string) => writeFileSync(join(folder, 'proto/a.proto'), text)

  before(function () {
    if (!hasBuf) this.skip()
    // A project in a folder of its repository.
    repository = mkdtempSync(join(tmpdir(), 'ashlar-proto-'))
    folder = join(repository, 'services/tasks')
    image = join(repository, 'image.binpb')
    mkdirSync(join(folder, 'proto'), { recursive: true })
    mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
    symlinkSync(BUF, join(folder, 'node_modules/.bin/buf'))
    symlinkSync(join(root, 'node_modules/ashlar-annotations/proto'), join(folder, 'node_modules/annotations'))
    writeFileSync(join(folder, 'buf.yaml'), 'version: v2\nmodules: [{ path: proto }]\n')
    writeFileSync(join(repository, '.gitignore'), 'node_modules\n')
    git('init', '--quiet', '--initial-branch', 'main')
    git('commit', '--quiet', '--allow-empty', '--message', 'empty')
    git('tag', 'empty')
    write(PROTO)
    git('add', '.')
    git('commit', '--quiet', '--message', 'first')
  })
  after(() => rmSync(repository, { recursive: true, force: true }))
  beforeEach(() => write(PROTO))

  it('finds nothing in what is new, and in a removed field whose number and name are reserved', async () => {
    write(PROTO.replace('  int32 size = 2;\n', '  reserved 2;\n  reserved "size";\n  string note = 3;\n'))
    expect(await breakingChanges(folder, 'main')).to.deep.equal([])
  })

  it('finds a removed field, a changed type and a changed JSON name, against a commit', async () => {
    write(PROTO.replace('string title = 1', 'int32 title = 1').replace('  int32 size = 2;\n', ''))
    const changes = await breakingChanges(folder, 'HEAD')
    expect(new Set(changes.map(({ rule }) => rule))).to.deep.equal(
      new Set([
        'FIELD_NO_DELETE_UNLESS_NAME_RESERVED',
        'FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED',
        'FIELD_WIRE_JSON_COMPATIBLE_TYPE',
      ]),
    )
    expect(changes.find(({ rule }) => rule.endsWith('_TYPE'))).to.include({ path: 'proto/a.proto', line: 4 })
    write(PROTO.replace('title = 1', 'name = 1'))
    expect((await breakingChanges(folder, 'main')).map(({ rule }) => rule)).to.include('FIELD_SAME_JSON_NAME')
  })

  it('compares with an image, and leaves what is staged and what is written alone', async () => {
    makeImage()
    write(PROTO.replace('int32 size', 'string size'))
    git('add', '.')
    const before = git('status', '--short')
    expect(await breakingChanges(folder, image)).to.have.length(1)
    expect(await breakingChanges(folder, 'main')).to.have.length(1)
    expect(git('status', '--short')).to.equal(before)
    expect(readFileSync(join(folder, 'proto/a.proto'), 'utf8')).to.include('string size')
    git('reset', '--quiet')
  })

  it('keeps what buf.yaml leaves out', async () => {
    const config = join(folder, 'buf.yaml')
    writeFileSync(config, 'version: v2\nmodules: [{ path: proto }]\nbreaking: { ignore: [proto/a.proto] }\n')
    write(PROTO.replace('int32 size', 'string size'))
    expect(await breakingChanges(folder, 'main')).to.deep.equal([])
    writeFileSync(config, 'version: v2\nmodules: [{ path: proto }]\n')
  })

  it('exits with 1 and says where', async () => {
    write(PROTO.replace('int32 size', 'string size'))
    const { exit, stdout } = await runCommand(['proto', 'check', '--against', 'main'], { cwd: folder })
    expect(exit).to.equal(1)
    expect(stdout).to.match(/^proto\/a\.proto:5: Field "2" with name "size"/)
  })

  describe('of a field that requests now need', () => {
    const NAMES = `message CreateTaskRequest { Task task = 1; }
message ListTasksRequest {}
message ListTasksResponse { repeated Task tasks = 1; repeated Total totals = 2; }
message Total { int32 size = 1; }
service TaskService {
  rpc CreateTask(CreateTaskRequest) returns (Task);
  rpc ListTasks(ListTasksRequest) returns (ListTasksResponse);
}
`
    const served = (task: string, names = NAMES) =>
      PROTO.replace('message', 'import "google/api/field_behavior.proto";\nmessage').replace(
        '  int32 size = 2;\n',
        (size) => `${size}${task}`,
      ) + names
    const REQUIRED = '[(google.api.field_behavior) = REQUIRED]'
    const found = async (text: string) => {
      write(text)
      return (await breakingChanges(folder, image)).map(
        ({ path, line, rule, message }) => `${path}:${line}: ${message.split(':')[0] ?? ''} (${rule})`,
      )
    }

    before(() => {
      writeFileSync(join(folder, 'buf.yaml'), WITH_OPTIONS)
      write(served('  string note = 3;\n'))
      makeImage()
    })

    it('finds a new one and an old one, in what requests hold', async () => {
      const text = served(`  string note = 3 ${REQUIRED};\n  string queue = 4 ${REQUIRED};\n`)
      expect(await found(text)).to.deep.equal([
        'proto/a.proto:7: Field "3" with name "note" on message "Task" is now REQUIRED (FIELD_NEWLY_REQUIRED)',
        'proto/a.proto:8: Field "4" with name "queue" on message "Task" is new and REQUIRED (FIELD_NEWLY_REQUIRED)',
      ])
    })

    /** What is new: a field of the task, and what changes in the rest of the file. */
    const ROWS: readonly (readonly [what: string, field: string, changed: (names: string) => string])[] = [
      ['a new field', 'string queue = 4', (names) => names],
      ['a number that cannot be missing', `int32 count = 5 ${REQUIRED}`, (names) => names],
      [
        'a field of responses alone',
        '',
        (names) => names.replace('int32 size = 1', `$& ; string unit = 2 ${REQUIRED}`),
      ],
      [
        'a message that no client sends yet',
        'Label label = 6',
        (names) => `${names}message Label { string text = 1 ${REQUIRED}; }\n`,
      ],
      [
        'the request of a new method',
        '',
        (names) =>
          `${names.replace('service TaskService {', '$&\n  rpc ArchiveTask(ArchiveTaskRequest) returns (Task);')}message ArchiveTaskRequest { string name = 1 ${REQUIRED}; }\n`,
      ],
    ]
    // All at once in `npm test`: each run of buf takes seconds where the machine is busy.
    for (const rows of drilling ? ROWS.map((row) => [row]) : [ROWS])
      it(`finds nothing in ${rows.map(([what]) => what).join(', ')}`, async () => {
        const fields = rows.flatMap(([, field]) => (field === '' ? [] : [`  ${field};\n`])).join('')
        const names = rows.reduce((text, [, , changed]) => changed(text), NAMES)
        expect(await found(served(`  string note = 3;\n${fields}`, names))).to.deep.equal([])
      })

    it('leaves out the files that buf.yaml ignores', async () => {
      const config = join(folder, 'buf.yaml')
      const before = readFileSync(config, 'utf8')
      writeFileSync(config, `${before}breaking: { ignore: [proto/a.proto] }\n`)
      try {
        expect(await found(served(`  string note = 3 ${REQUIRED};\n`))).to.deep.equal([])
      } finally {
        writeFileSync(config, before)
      }
    })

    it('agrees with the guide about a required column', async () => {
      const recipe = guideSection('A required column with real values')
      const field = /`(string queue = 4;)`/.exec(recipe)?.[1] ?? ''
      expect(await found(served(`  string note = 3;\n  ${field}\n`))).to.deep.equal([])
      const later = field.replace(';', ` ${REQUIRED};`)
      expect(await found(served(`  string note = 3;\n  ${later}\n`))).to.have.length(1)
    })
  })

  describe('of the surface over HTTP', () => {
    const SERVED = `syntax = "proto3";
package a.v1;
import "google/api/annotations.proto";
import "google/api/field_behavior.proto";
import "google/api/resource.proto";
// Paints.
service TaskService {
  rpc GetTask(GetTaskRequest) returns (Task) { option (google.api.http) = {get: "/v1/{id=tasks/*}"}; }
  rpc PaintTask(Task) returns (Task) { option (google.api.http) = {post: "/v1/tasks/{title}:paint" body: "*"}; }
}
message GetTaskRequest { string id = 1; }
message Task {
  option (google.api.resource) = {type: "a.example.com/Task" pattern: "tasks/{task}"};
  string title = 1;
  string colour = 2;
  State state = 3;
}
enum State { STATE_UNSPECIFIED = 0; OPEN = 1; }
`
    const changesOf = async () =>
      (await breakingChanges(folder, image)).map(({ path, line, rule }) => `${path}:${line} ${rule}`)

    before(() => {
      writeFileSync(join(folder, 'buf.yaml'), WITH_OPTIONS)
      write(SERVED)
      makeImage()
    })
    beforeEach(() => write(SERVED))

    type Row = readonly [what: string, from: string | RegExp, to: string, found: string]
    /** Changes that do not touch each other. */
    const GROUPS: readonly (readonly Row[])[] = [
      [
        ['a path', 'tasks/*', 'things/*', '8 HTTP_ROUTE_REMOVED'],
        ['a method of HTTP', 'post:', 'put:', '9 HTTP_ROUTE_REMOVED'],
        ['a pattern of names', '"tasks/{task}"', '"jobs/{task}"', '12 RESOURCE_PATTERN_REMOVED'],
        [
          'a field that the server sets now',
          'colour = 2',
          'colour = 2 [(google.api.field_behavior) = OUTPUT_ONLY]',
          '15 FIELD_NEWLY_SET_BY_SERVER',
        ],
        ['the name of a value', 'OPEN = 1', 'STARTED = 1', '18 ENUM_VALUE_SAME_NAME'],
      ],
      [
        ['a stream', 'returns (Task)', 'returns (stream Task)', '8 RPC_SAME_SERVER_STREAMING'],
        ['a body', ' body: "*"', '', '9 HTTP_BODY_CHANGED'],
        ['a name in JSON', 'colour = 2', 'colour = 2 [json_name = "paint"]', '15 FIELD_SAME_JSON_NAME'],
      ],
      [['a method', /.*rpc PaintTask.*\n/, '', '7 METHOD_REMOVED']],
      [['a service', 'TaskService', 'WorkService', '1 SERVICE_REMOVED']],
    ]
    for (const rows of drilling ? GROUPS.flatMap((group) => group.map((row) => [row])) : GROUPS)
      it(`finds ${rows.map(([what]) => what).join(', ')}, and where`, async () => {
        write(rows.reduce((text, [, from, to]) => text.replace(from, to), SERVED))
        expect(await changesOf()).to.have.members(rows.map(([, , , found]) => `proto/a.proto:${found}`))
      })

    it('finds nothing in a new route and in a comment', async () => {
      const more = 'body: "*" additional_bindings { get: "/v2/tasks/{title}" }'
      write(SERVED.replace('body: "*"', more).replace('message Task', '// A task.\nmessage Task'))
      expect(await changesOf()).to.deep.equal([])
    })

    it('finds the services of a file that is gone, unless buf.yaml leaves it out', async () => {
      const file = join(folder, 'proto/a.proto')
      const config = join(folder, 'buf.yaml')
      const before = readFileSync(config, 'utf8')
      rmSync(file)
      writeFileSync(join(folder, 'proto/b.proto'), 'syntax = "proto3";\npackage b.v1;\nmessage Job {}\n')
      try {
        expect(await changesOf()).to.deep.equal(['proto/a.proto:1 SERVICE_REMOVED'])
        writeFileSync(config, `${before}breaking: { ignore: [proto/a.proto] }\n`)
        expect(await changesOf()).to.deep.equal([])
      } finally {
        writeFileSync(config, before)
        rmSync(join(folder, 'proto/b.proto'))
      }
    })
  })

  for (const [what, against, message] of [
    [
      'what is neither a file nor a commit',
      'nowhere',
      '--against nowhere is neither a file nor a commit here',
    ],
    ['an option of git', '--upload-pack=touch', 'is neither a file nor a commit here'],
    ['a commit without this folder', 'empty', 'empty does not have this folder'],
  ] as const)
    it(`refuses ${what}`, async () => {
      const failure = await breakingChanges(folder, against).then(
        () => 'nothing',
        (error: Error) => error.message,
      )
      expect(failure).to.include(message)
    })

  it('says what does not compile', async () => {
    write('syntax = "proto3";\nmessage Task {')
    const failure = await breakingChanges(folder, 'main').then(String, (error: Error) => error.message)
    expect(failure).to.match(/^the \.proto files do not compile: proto\/a\.proto:2: /)
  })
})
