import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../root.js'

/** The TypeScript 7 compiler, which also builds this repository. */
export const NATIVE_TSC = join(root, 'node_modules/native-typescript/bin/tsc')

/**
 * Compiles a project with its tsconfig.json and returns the lines that the compiler prints. If it fails and
 * prints nothing, returns one line with its exit status.
 */
export function compiledProject(folder: string): readonly string[] {
  const { status, stdout, stderr } = spawnSync(process.execPath, [NATIVE_TSC, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => line !== '')
  return status === 0 || lines.length > 0 ? lines : [`the compiler ended with ${status}`]
}

/**
 * Writes a tsconfig.json with the given options, compiles the folder and returns the lines that the compiler
 * prints.
 */
export function compiledWith(
  folder: string,
  compilerOptions: Readonly<Record<string, unknown>>,
  include: readonly string[] = ['.'],
): readonly string[] {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }))
  return compiledProject(folder)
}
