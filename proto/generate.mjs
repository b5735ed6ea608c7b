// Generates the code of every .proto file in the project. Run by `npm run gen`; the result is committed.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createRegistry } from '@bufbuild/protobuf'
import { file_buf_validate_validate as rules } from '@bufbuild/protovalidate/gen/buf/validate/validate_pb.js'
import { printProto } from './print-proto.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(here)
const tools = join(here, 'node_modules')
const annotations = join(root, 'packages/annotations')

// Google's files are read from Google's package and not stored. Nested folders are omitted.
const google = ['google/api', 'google/longrunning', 'google/rpc', 'google/type'].flatMap((folder) =>
  readdirSync(join(tools, 'google-proto-files', folder))
    .filter((name) => name.endsWith('.proto'))
    .map((name) => `${folder}/${name}`),
)
const own = ['ashlar/api/v1/annotations.proto']
const grpc = ['health/v1/health', 'reflection/v1/reflection', 'reflection/v1alpha/reflection'].map(
  (name) => `grpc/${name}.proto`,
)
const buf = 'buf/validate/validate.proto'

const toPackage = ['ashlar', 'buf', 'google'].map(
  (folder) => `rewrite_imports=./${folder}/**/*_pb.js:ashlar-annotations`,
)
const outputs = [
  { files: [...google, ...own, buf], out: 'packages/annotations/gen', options: ['target=js+dts'] },
  { files: grpc, out: 'lib/gen', options: ['target=ts'] },
  ...['widgets', 'orders', 'library'].map((name) => ({
    copied: [`examples/${name}/${name}.proto`],
    out: `examples/${name}/gen`,
    options: ['target=ts', ...toPackage],
  })),
  {
    copied: [
      ...['specimens', 'jsontypes', 'parcels', 'tickets', 'editions', 'sizes'],
      ...['plans', 'makers', 'instruments', 'clubs', 'calls', 'stays', 'bills', 'helpdesk'],
    ].map((name) => `test/support/proto/${name}.proto`),
    out: 'test/support/gen',
    options: ['target=ts', ...toPackage],
  },
]

const stage = mkdtempSync(join(tmpdir(), 'ashlar-gen-'))
try {
  for (const file of google) copy(join(tools, 'google-proto-files', file), file)
  for (const file of grpc) copy(join(here, file), file)
  for (const file of own) copy(join(annotations, 'proto', file), file)
  // No package contains this file as text, so it is printed from its descriptor.
  mkdirSync(dirname(join(stage, buf)), { recursive: true })
  writeFileSync(join(stage, buf), printProto(rules, createRegistry(rules)))
  for (const { copied = [], files = copied.map(nameOf), out, options } of outputs) {
    for (const file of copied) copy(join(root, file), nameOf(file))
    rmSync(join(root, out), { recursive: true, force: true })
    generate(files, join(root, out), options)
  }
} finally {
  rmSync(stage, { recursive: true, force: true })
}

function nameOf(file) {
  return file.slice(file.lastIndexOf('/') + 1)
}

function copy(from, to) {
  mkdirSync(dirname(join(stage, to)), { recursive: true })
  cpSync(from, join(stage, to))
}

function generate(paths, out, options) {
  writeFileSync(join(stage, 'buf.yaml'), 'version: v2\n')
  const template = {
    version: 'v2',
    plugins: [
      {
        local: [process.execPath, join(tools, '@bufbuild/protoc-gen-es/bin/protoc-gen-es')],
        out,
        opt: [...options, 'import_extension=js'],
      },
    ],
  }
  const args = [
    'generate',
    '--template',
    JSON.stringify(template),
    ...paths.flatMap((path) => ['--path', path]),
  ]
  execFileSync(join(tools, '@bufbuild/buf-linux-x64/bin/buf'), args, {
    cwd: stage,
    stdio: 'inherit',
    env: { ...process.env, BUF_CACHE_DIR: join(stage, '.cache') },
  })
}
