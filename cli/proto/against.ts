import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Failure } from '../errors/failure.js'
import { bufOf } from './buf.js'
import { runTool } from './project-tool.js'

const run = promisify(execFile)

/** The image with which files are compared, and a function that removes it. */
export interface Against {
  readonly image: string
  readonly remove: () => void
}

/**
 * Returns the image in a file, or an image of the .proto files in a commit. Their imports come from the
 * current `node_modules`.
 * @throws {Failure} if it is neither a file nor a commit, or if the commit's files do not compile.
 */
export async function againstImage(folder: string, given: string): Promise<Against> {
  const path = resolve(folder, given)
  if (existsSync(path) && statSync(path).isFile()) return { image: path, remove: () => undefined }
  const draft = mkdtempSync(join(tmpdir(), 'ashlar-proto-'))
  const remove = () => rmSync(draft, { recursive: true, force: true })
  try {
    const tree = join(draft, 'tree')
    mkdirSync(tree)
    await checkOut(folder, given, draft, tree)
    const modules = join(folder, 'node_modules')
    if (existsSync(modules) && !existsSync(join(tree, 'node_modules')))
      symlinkSync(modules, join(tree, 'node_modules'))
    const image = join(draft, 'image.binpb')
    const { exit, stderr } = await runTool(bufOf(folder), ['build', tree, '--output', image], folder)
    if (exit !== 0)
      throw new Failure(
        'input',
        `the .proto files of ${given} do not compile: ${stderr.trim().split('\n').slice(0, 3).join('; ')}`,
      )
    return { image, remove }
  } catch (error) {
    remove()
    throw error
  }
}

/**
 * Writes the files of a commit into a folder. It uses a separate index, so that staged changes are not
 * affected.
 */
async function checkOut(folder: string, commit: string, draft: string, tree: string): Promise<void> {
  const env = { ...process.env, GIT_INDEX_FILE: join(draft, 'index') }
  const gitIn =
    (cwd: string) =>
    async (...args: readonly string[]) =>
      (await run('git', [...args], { cwd, env })).stdout.trim()
  const git = gitIn(folder)
  let id: string
  try {
    id = await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{commit}`)
  } catch (error) {
    throw new Failure(
      'input',
      `--against ${commit} is neither a file nor a commit here: name a branch, a tag, a commit, or an image of npx buf build --output image.binpb`,
      { cause: error },
    )
  }
  try {
    await git('read-tree', `${id}:${await git('rev-parse', '--show-prefix')}`)
    // Runs at the repository's root, because in a subfolder it would check out only that folder.
    await gitIn(await git('rev-parse', '--show-toplevel'))('checkout-index', '--all', `--prefix=${tree}/`)
  } catch (error) {
    throw new Failure('input', `${commit} does not have this folder: compare with a commit that has it`, {
      cause: error,
    })
  }
}
