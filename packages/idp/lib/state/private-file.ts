import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'

/** The mode of files that only this user may read. */
const MODE = 0o600

/** Creates the folder for this user alone, if it does not exist. */
export function privateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  chmodSync(path, 0o700)
}

/** Returns the content, or undefined without the file. */
export function readPrivate(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8')
    chmodSync(path, MODE)
    return text
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Replaces the file atomically, so that readers find either the old or the new content. */
export function writePrivate(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, text, { mode: MODE })
  renameSync(temporary, path)
}

/** Replaces the file in the same way, asynchronously. */
export async function replacePrivate(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.async.tmp`
  await writeFile(temporary, text, { mode: MODE })
  await rename(temporary, path)
}
