import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'

/** Only this user may read it. */
const MODE = 0o600

/** Makes the folder where it is not there, for this user alone. */
export function privateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  chmodSync(path, 0o700)
}

/** The text, or undefined without the file. */
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

/** Replaces the file as a whole: a reader sees the old text or the new one. */
export function writePrivate(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, text, { mode: MODE })
  renameSync(temporary, path)
}

/** As `writePrivate`, without keeping the process. */
export async function replacePrivate(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.async.tmp`
  await writeFile(temporary, text, { mode: MODE })
  await rename(temporary, path)
}
