// Generates the TypeScript of every .proto in the project. Run by `npm run gen`; the result is committed.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { file_buf_validate_validate as rules } from '@bufbuild/protovalidate/gen/buf/validate/validate_pb.js'
import { printProto } from './print-proto.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(here)
const tools = join(here, 'node_modules')

// Only these of google's files are given to buf; they are read from the tool's own packages and never kept.
const google = [
  'google/api/annotations.proto',
  'google/api/http.proto',
  'google/api/httpbody.proto',
  'google/api/field_behavior.proto',
  'google/api/client.proto',
  'google/api/launch_stage.proto',
  'google/api/resource.proto',
  'google/longrunning/operations.proto',
  'google/rpc/code.proto',
  'google/rpc/error_details.proto',
  'google/rpc/status.proto',
]
const own = [
  'ashlar/api/v1/annotations.proto',
  'grpc/health/v1/health.proto',
  'grpc/reflection/v1/reflection.proto',
  'grpc/reflection/v1alpha/reflection.proto',
]

const outputs = [
  { files: [...google, ...own], out: 'lib/gen', libGen: undefined },
  { files: ['examples/widgets/widgets.proto'], out: 'examples/widgets/gen', libGen: '../../../lib/gen' },
  { files: ['examples/orders/orders.proto'], out: 'examples/orders/gen', libGen: '../../../lib/gen' },
  { files: ['examples/library/library.proto'], out: 'examples/library/gen', libGen: '../../../lib/gen' },
  {
    files: [
      ...['specimens', 'jsontypes', 'parcels', 'tickets', 'editions'],
      ...['plans', 'makers', 'instruments', 'clubs', 'calls'],
    ].map((name) => `test/support/proto/${name}.proto`),
    out: 'test/support/gen',
    libGen: '../../../lib/gen',
  },
]

const stage = mkdtempSync(join(tmpdir(), 'ashlar-gen-'))
try {
  for (const file of google) copy(join(tools, 'google-proto-files', file), file)
  for (const file of own) copy(join(here, file), file)
  // No package brings this file as text: it is printed from its descriptor.
  mkdirSync(join(stage, 'buf/validate'), { recursive: true })
  writeFileSync(join(stage, 'buf/validate/validate.proto'), printProto(rules.proto))
  for (const { files, out, libGen } of outputs) {
    const paths = libGen === undefined ? files : files.map((file) => file.slice(file.lastIndexOf('/') + 1))
    if (libGen !== undefined) files.forEach((file, i) => copy(join(root, file), paths[i]))
    rmSync(join(root, out), { recursive: true, force: true })
    generate(paths, join(root, out), libGen)
  }
} finally {
  rmSync(stage, { recursive: true, force: true })
}

function copy(from, to) {
  mkdirSync(dirname(join(stage, to)), { recursive: true })
  cpSync(from, join(stage, to))
}

function generate(paths, out, libGen) {
  const options = ['target=ts', 'import_extension=js']
  if (libGen !== undefined)
    for (const folder of ['google/api', 'google/rpc', 'google/longrunning', 'ashlar/api/v1'])
      options.push(`rewrite_imports=./${folder}/**:${libGen}`)
  options.push('rewrite_imports=./buf/validate/**:@bufbuild/protovalidate/gen')
  writeFileSync(join(stage, 'buf.yaml'), 'version: v2\n')
  const template = {
    version: 'v2',
    plugins: [
      {
        local: [process.execPath, join(tools, '@bufbuild/protoc-gen-es/bin/protoc-gen-es')],
        out,
        opt: options,
      },
    ],
  }
  const buf = join(tools, '@bufbuild/buf-linux-x64/bin/buf')
  const args = [
    'generate',
    '--template',
    JSON.stringify(template),
    ...paths.flatMap((path) => ['--path', path]),
  ]
  execFileSync(buf, args, {
    cwd: stage,
    stdio: 'inherit',
    env: { ...process.env, BUF_CACHE_DIR: join(stage, '.cache') },
  })
}
