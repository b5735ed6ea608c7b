import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { Failure } from '../errors/failure.js'
import { againstImage } from './against.js'
import { bufOf, describedProtos } from './buf.js'
import { runTool } from './project-tool.js'
import { ruleOf, textOf } from './surface-change.js'
import { surfaceChanges } from './surface-changes.js'

/** A change that breaks clients. */
export interface BreakingChange {
  readonly path: string
  /** The line number, starting at 1. */
  readonly line: number
  /**
   * The rule: one of buf's, such as `FIELD_WIRE_JSON_COMPATIBLE_TYPE`, or one of Ashlar's, such as
   * `HTTP_ROUTE_REMOVED`.
   */
  readonly rule: string
  readonly message: string
}

/** buf's exit status if it found a breaking change. */
const FOUND = 100

/**
 * Returns the changes in a project's .proto files that break clients of an earlier version, in any protocol.
 * @param against - a branch, tag or commit, or the file of an image.
 * @throws {Failure} if they cannot be compared.
 */
export async function breakingChanges(folder: string, against: string): Promise<readonly BreakingChange[]> {
  const buf = bufOf(folder)
  const { image, remove } = await againstImage(folder, against)
  try {
    const { exit, stdout, stderr } = await runTool(
      buf,
      [
        'breaking',
        'proto',
        '--exclude-imports',
        '--against',
        image,
        '--config',
        configOf(folder),
        '--error-format',
        'json',
      ],
      folder,
    )
    if (exit !== 0 && exit !== FOUND)
      throw new Failure(
        'input',
        `the .proto files cannot be compared: ${stderr.trim().split('\n').slice(0, 3).join('; ')}`,
      )
    const changes = stdout
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map(changeOf)
    const mistake = changes.find(({ rule }) => rule === 'COMPILE')
    if (mistake !== undefined)
      throw new Failure(
        'input',
        `the .proto files do not compile: ${mistake.path}:${mistake.line}: ${mistake.message}`,
      )
    return [...changes, ...(await changesOfSurface(folder, image))]
  } finally {
    remove()
  }
}

/** Returns the changes for which buf has no rules. */
async function changesOfSurface(folder: string, image: string): Promise<readonly BreakingChange[]> {
  const ignored = bufYaml(folder).breaking?.ignore ?? []
  const [now, earlier] = [await describedProtos(folder), await describedProtos(folder, image)]
  const names = new Set(now.file.map(({ name }) => name))
  // A missing file was the project's own. Imported files are compared with themselves.
  const isOwn = (file: string) => existsSync(join(folder, 'proto', file)) || !names.has(file)
  return surfaceChanges(now, earlier)
    .filter(({ file }) => isOwn(file))
    .map((change) => ({
      path: `proto/${change.file}`,
      line: change.line,
      rule: ruleOf(change),
      message: textOf(change),
    }))
    .filter(({ path }) => !ignored.some((one) => path === one || path.startsWith(`${one}/`)))
}

/** Returns the project's own buf.yaml with the rules that a JSON API needs. Its exceptions are kept. */
function configOf(folder: string): string {
  const config = bufYaml(folder)
  return JSON.stringify({ ...config, breaking: { ...config.breaking, use: ['WIRE_JSON'] } })
}

interface BufYaml {
  readonly breaking?: { readonly ignore?: readonly string[] }
}

function bufYaml(folder: string): BufYaml {
  const file = join(folder, 'buf.yaml')
  if (!existsSync(file))
    throw new Failure('input', 'there is no buf.yaml here: change to the folder of the project')
  return parse(readFileSync(file, 'utf8')) as BufYaml
}

interface Finding {
  readonly path?: string
  readonly start_line?: number
  readonly type: string
  readonly message: string
}

function changeOf(line: string): BreakingChange {
  const { path = '', start_line = 1, type, message } = JSON.parse(line) as Finding
  return { path, line: start_line, rule: type, message }
}
