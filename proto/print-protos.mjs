// Writes the .proto files of Google and Buf that ashlar-annotations contains, printed from the descriptors in
// its generated code.
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createRegistry } from '@bufbuild/protobuf'
import { printProto } from './print-proto.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const annotations = join(root, 'packages/annotations')
const OWNERS = { google: 'Google LLC', buf: 'Buf Technologies, Inc.' }

const files = await Promise.all(
  readdirSync(join(annotations, 'gen'), { recursive: true })
    .filter((path) => path.endsWith('_pb.js'))
    .map(
      async (path) =>
        Object.entries(await import(pathToFileURL(join(annotations, 'gen', path)).href)).find(([name]) =>
          name.startsWith('file_'),
        )[1],
    ),
)
const registry = createRegistry(...files)
for (const [folder, owner] of Object.entries(OWNERS)) {
  rmSync(join(annotations, 'proto', folder), { recursive: true, force: true })
  for (const file of files.filter(({ name }) => name.startsWith(`${folder}/`))) {
    const path = join(annotations, 'proto', `${file.name}.proto`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(
      path,
      [
        `// Printed from the descriptor of ${file.name}.proto, without its comments.`,
        `// Copyright ${owner}; under the Apache License, Version 2.0: http://www.apache.org/licenses/LICENSE-2.0`,
        printProto(file, registry),
      ].join('\n'),
    )
  }
}
// The text of that license, from a package under the same license.
copyFileSync(join(root, 'node_modules/typescript/LICENSE.txt'), join(annotations, 'LICENSE-APACHE'))
