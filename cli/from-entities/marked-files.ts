import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ChangedFiles } from '../generate/changed-files.js'

/** The result of writing a file. `beside`: the file was edited, and its new version is beside it. */
export type FileState = 'new' | 'changed' | 'unchanged' | 'beside'

const MARK = /^(?:\/\/|#) Written by ashlar generate from-entities\. Checksum: ([0-9a-f]{16})\n/

const checksum = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

const marked = (text: string, comment: string): string =>
  `${comment} Written by ashlar generate from-entities. Checksum: ${checksum(text)}\n${text}`

/** True if the text is as a run wrote it. */
const isAsWritten = (text: string): boolean => {
  const mark = MARK.exec(text)
  return mark !== null && checksum(text.slice(mark[0].length)) === mark[1]
}

/**
 * Writes a file, unless it was edited by hand: then the new version is written beside it, with the ending
 * `.new`.
 */
export function writeMarked(files: ChangedFiles, path: string, text: string, comment = '//'): FileState {
  const next = marked(text, comment)
  const before = files.text(path)
  if (before === next) return 'unchanged'
  if (before === undefined) {
    files.set(path, next)
    return 'new'
  }
  if (isAsWritten(before)) {
    files.set(path, next)
    return 'changed'
  }
  files.set(`${path}.new`, next)
  return 'beside'
}

/** The text of `buf.yaml` for a project. `node_modules` may be in a folder above, as in a monorepo. */
export function bufYaml(folder: string): string {
  const protos = annotationsFrom(folder)
  return `version: v2
modules:
  - path: proto
  - path: ${protos}
lint:
  except: [ENUM_VALUE_PREFIX, RPC_REQUEST_RESPONSE_UNIQUE, RPC_RESPONSE_STANDARD_NAME]
  ignore: [${protos}]
`
}

/** The .proto files of ashlar-annotations, as a path from the folder. */
function annotationsFrom(folder: string): string {
  let prefix = ''
  for (let at = folder; ; at = dirname(at), prefix += '../') {
    const path = 'node_modules/ashlar-annotations/proto'
    if (existsSync(join(at, path))) return `${prefix}${path}`
    if (dirname(at) === at) return path
  }
}

export const bufGenYaml = (out: string, extension: string): string => `version: v2
inputs:
  - directory: proto
plugins:
  - local: protoc-gen-es
    out: ${out}
    opt:
      - target=ts
      - import_extension=${extension}
      - rewrite_imports=./ashlar/**/*_pb.js:ashlar-annotations
      - rewrite_imports=./buf/**/*_pb.js:ashlar-annotations
      - rewrite_imports=./google/**/*_pb.js:ashlar-annotations
`

/** The extension of imports in the sources of a project: ES modules need one. */
export function importExtension(folder: string): 'js' | 'none' {
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest)) return 'none'
  const { type } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly type?: unknown }
  return type === 'module' ? 'js' : 'none'
}
