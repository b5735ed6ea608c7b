import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../root.js'

/** The compiler of TypeScript 7, which builds this project as well. */
export const NATIVE_TSC = join(root, 'node_modules/native-typescript/bin/tsc')

/**
 * Compiles a project as its tsconfig.json says, and returns what the compiler finds wrong, a line each. A
 * compiler that follows goes on from there.
 */
export function compiledProject(folder: string): readonly string[] {
  const { status, stdout, stderr } = spawnSync(process.execPath, [NATIVE_TSC, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => line !== '')
  return status === 0 || lines.length > 0 ? lines : [`the compiler ended with ${status}`]
}

/** The same, of all sources of a folder, with these options in its tsconfig.json. */
export function compiledWith(
  folder: string,
  compilerOptions: Readonly<Record<string, unknown>>,
  include: readonly string[] = ['.'],
): readonly string[] {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }))
  return compiledProject(folder)
}
