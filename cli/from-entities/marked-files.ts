import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Failure } from '../errors/failure.js'
import { manifestOf } from './project-manifest.js'
import type { ChangedFiles } from '../generate/changed-files.js'

/** The result of writing a file. `beside`: the file was edited, so its new version is next to it. */
export type FileState = 'new' | 'changed' | 'unchanged' | 'beside'

const MARK = /^(?:\/\/|#) Written by ashlar generate\. Checksum: ([0-9a-f]{16})\n/

const checksum = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

const marked = (text: string, comment: string): string =>
  `${comment} Written by ashlar generate. Checksum: ${checksum(text)}\n${text}`

/** Returns true if the text is unchanged since a run wrote it. */
const isAsWritten = (text: string): boolean => {
  const mark = MARK.exec(text)
  return mark !== null && checksum(text.slice(mark[0].length)) === mark[1]
}

/** Writes a file. If it was edited manually, writes the new version next to it with the extension `.new`. */
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

const ANNOTATIONS = 'node_modules/ashlar-annotations/proto'

/** A `buf.yaml` and its path from the project's folder. */
export interface BufYaml {
  readonly path: string
  readonly text: string
  /** The project's module in it. */
  readonly module: string
}

/**
 * Returns the `buf.yaml` of a project. In a monorepo it is next to the shared `node_modules`, because buf
 * reads no module outside its folder.
 * @throws {Failure} if ashlar-annotations is not installed.
 */
export function bufYaml(folder: string): BufYaml {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ANNOTATIONS))) {
      const module = join(relative(at, folder), 'proto').replaceAll('\\', '/')
      return { path: join(relative(folder, at), 'buf.yaml'), text: bufYamlText(module), module }
    }
    if (dirname(at) === at)
      throw new Failure('input', 'ashlar-annotations is not installed: run npm install ashlar-annotations')
  }
}

const bufYamlText = (module: string): string => `version: v2
modules:
  - path: ${module}
  - path: ${ANNOTATIONS}
lint:
  except: [ENUM_VALUE_PREFIX, RPC_REQUEST_RESPONSE_UNIQUE, RPC_RESPONSE_STANDARD_NAME]
  ignore: [${ANNOTATIONS}]
`

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

/** Returns the extension of imports in a project's sources. ES modules require one. */
export const importExtension = (folder: string): 'js' | 'none' =>
  manifestOf(folder)?.type === 'module' ? 'js' : 'none'
