import { fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FieldChanges, withFields } from '../../../cli/generate/field-edits.js'
import { parseFields } from '../../../cli/generate/field-spec.js'
import type { ProtoSource } from '../../../cli/generate/proto-source.js'
import { BUF, hasBuf } from '../../support/projects/linked-project.js'
import { root } from '../../support/root.js'

const HEAD = 'syntax = "proto3";\npackage a.v1;\n'

/** A message before, what changes, and the message after. */
const EDITS: readonly (readonly [string, string, string, string, string])[] = [
  [
    'after the last field and the comment behind it',
    'message Task {\n  // First.\n  string a = 1; // behind\n\n  // At the end.\n}\n',
    'size:int32',
    '',
    'message Task {\n  // First.\n  string a = 1; // behind\n  int32 size = 2;\n\n  // At the end.\n}\n',
  ],
  [
    'with tabs and wide characters on the lines',
    'message Task {\n\t/* größe 𝒳 */ string a = 1;\t/* ü */\n\tstring b = 2 [deprecated = true];\n}\n',
    'size:int32',
    'a',
    'message Task {\n\t/* größe 𝒳 */ reserved 1; reserved "a";\t/* ü */\n\tstring b = 2 [deprecated = true];\n\tint32 size = 3;\n}\n',
  ],
  [
    'in a message of one line',
    'message Task { string a = 1; }\n',
    'b:int32',
    '',
    'message Task { string a = 1; int32 b = 2; }\n',
  ],
  ['in a message without a field', 'message Task {}\n', 'b:int32', '', 'message Task {\n  int32 b = 1;\n}\n'],
  [
    'with lines that end in CRLF',
    'message Task {\r\n  string a = 1;\r\n}\r\n',
    'b:int32',
    '',
    'message Task {\r\n  string a = 1;\r\n  int32 b = 2;\r\n}\r\n',
  ],
  [
    'after every number that was used, reserved ones too',
    'message Task {\n  reserved 7 to 9;\n  reserved "old";\n  string a = 3;\n}\n',
    'b:int32 c:int32',
    '',
    'message Task {\n  reserved 7 to 9;\n  reserved "old";\n  string a = 3;\n  int32 b = 10;\n  int32 c = 11;\n}\n',
  ],
  [
    'past the numbers that protobuf keeps for itself',
    'message Task {\n  string a = 18999;\n}\n',
    'b:int32',
    '',
    'message Task {\n  string a = 18999;\n  int32 b = 20000;\n}\n',
  ],
  [
    'an enum at the end of the message',
    'message Task {\n  string a = 1;\n\n  message Inner { string a = 1; }\n}\n',
    'state:enum(OPEN,DONE)',
    '',
    'message Task {\n  string a = 1;\n  State state = 2;\n\n  message Inner { string a = 1; }\n\n  enum State {\n    STATE_UNSPECIFIED = 0;\n    OPEN = 1;\n    DONE = 2;\n  }\n}\n',
  ],
  [
    'a removed field goes with its comments, and no other',
    'message Task {\n  // Of a.\n  string a = 1;\n\n  // Detached.\n\n  // Of b,\n  // two lines.\n  string b = 2; // behind b\n  /* Of\n     c. */\n  string c = 3;\n}\n',
    '',
    'b c',
    'message Task {\n  // Of a.\n  string a = 1;\n\n  // Detached.\n\n  reserved 2;\n  reserved "b";\n  reserved 3;\n  reserved "c";\n}\n',
  ],
  [
    'a removed field of several lines',
    'message Task {\n  string a = 1 [\n    deprecated = true,\n    json_name = "x;y"\n  ];\n  string b = 2;\n}\n',
    '',
    'a',
    'message Task {\n  reserved 1;\n  reserved "a";\n  string b = 2;\n}\n',
  ],
]

describe('editing a .proto', function () {
  let folder: string
  before(function () {
    if (!hasBuf) this.skip()
    folder = mkdtempSync(join(tmpdir(), 'ashlar-edits-'))
    mkdirSync(join(folder, 'proto'))
    const annotations = join(root, 'packages/annotations/proto')
    execFileSync('cp', ['-r', annotations, join(folder, 'annotations')])
    writeFileSync(
      join(folder, 'buf.yaml'),
      'version: v2\nmodules: [{ path: proto }, { path: annotations }]\n',
    )
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** What buf reads in a text; it has to compile. */
  const described = (text: string): ProtoSource => {
    writeFileSync(join(folder, 'proto/a.proto'), text)
    const bytes = execFileSync(BUF, ['build', '--output', '-#format=binpb'], {
      cwd: folder,
      maxBuffer: 2 ** 26,
    })
    const file = fromBinary(FileDescriptorSetSchema, bytes).file.find(({ name }) => name === 'a.proto')
    if (file === undefined) throw new Error('buf left the file out')
    return { text, file }
  }
  const changes = (fields: string, removed: string): FieldChanges => ({
    added: parseFields(fields),
    removed: removed.split(' ').filter((name) => name !== ''),
    values: [],
  })

  for (const [what, before, fields, removed, after] of EDITS)
    it(`writes ${what}`, () => {
      const made = withFields(described(HEAD + before), 'Task', changes(fields, removed))
      expect(made).to.equal(HEAD + after)
      described(made)
    })

  it('adds what a field imports, once', () => {
    const before = `${HEAD}\nimport "google/protobuf/empty.proto"; // used\n\nmessage Task {\n  string a = 1;\n}\n`
    const made = withFields(described(before), 'Task', changes('at:timestamp! until:timestamp?', ''))
    expect(made.split('\n').filter((line) => line.startsWith('import'))).to.deep.equal([
      'import "google/protobuf/empty.proto"; // used',
      'import "google/protobuf/timestamp.proto";',
      'import "google/api/field_behavior.proto";',
    ])
    expect(described(made).file.messageType[0]?.field.map(({ number }) => number)).to.deep.equal([1, 2, 3])
  })

  it('adds imports to a file without one', () => {
    const made = withFields(described(`${HEAD}message Task {\n}\n`), 'Task', changes('at:timestamp?', ''))
    expect(made).to.equal(
      'syntax = "proto3";\npackage a.v1;\n\nimport "google/protobuf/timestamp.proto";\nmessage Task {\n  optional google.protobuf.Timestamp at = 1;\n}\n',
    )
    described(made)
  })

  it('adds values after those of an enum, with reserved ones counted', () => {
    const before = `${HEAD}message Task {\n  State state = 1;\n  enum State {\n    reserved 4 to 5;\n    STATE_UNSPECIFIED = 0;\n    // Now.\n    OPEN = 1; // behind\n  }\n}\n`
    const made = withFields(described(before), 'Task', {
      added: [],
      removed: [],
      values: [{ enumeration: 'State', added: ['LATE', 'DONE'] }],
    })
    expect(made).to.equal(before.replace('// behind\n', '// behind\n    LATE = 6;\n    DONE = 7;\n'))
    described(made)
  })

  it('finds its message among others', () => {
    const before = `${HEAD}message Other { string a = 1; }\nmessage Task {\n  string a = 1;\n}\n`
    const made = withFields(described(before), 'Task', changes('b:string', ''))
    expect(made).to.equal(before.replace('  string a = 1;\n', '  string a = 1;\n  string b = 2;\n'))
  })
})
