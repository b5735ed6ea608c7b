import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Failure } from '../errors/failure.js'

const ONLY_FOR_THE_OWNER = 0o600
/** The mode of a file without secrets, reduced by the umask. */
export const FOR_EVERYBODY = 0o666

/**
 * Returns the file's content; undefined if it does not exist. `shown` is its name in messages.
 * @throws Failure if the file cannot be read.
 */
export function readWholeFile(path: string, shown: string): string | undefined {
  return attempt(shown, () => {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat === undefined) return undefined
    if (!stat.isFile()) throw new Failure('output', `${shown} is not a file: name a file to write`)
    return readFileSync(path, 'utf8')
  })
}

/**
 * Writes the text to the file, completely or not at all. A concurrent reader, a failure or a kill leaves
 * either the old or the new text. Only the owner can read the file unless `mode` states otherwise. A symbolic
 * link is kept.
 * @throws Failure if it cannot be written.
 */
export function writeWholeFile(path: string, text: string, shown: string, mode = ONLY_FOR_THE_OWNER): void {
  attempt(shown, () => {
    const target = realpathOf(path)
    sweep(target)
    const draft = draftOf(target, process.pid)
    try {
      writeDurably(draft, text, mode)
      renameSync(draft, target)
    } catch (error) {
      removeIfThere(draft)
      throw error
    }
  })
}

/** Removes the permissions of all users except the owner. Returns true if there were any. */
export function closeToOthers(path: string, shown: string): boolean {
  return attempt(shown, () => {
    const { mode } = statSync(path)
    if ((mode & 0o077) === 0) return false
    chmodSync(path, mode & 0o700)
    return true
  })
}

function writeDurably(draft: string, text: string, mode: number): void {
  const file = openSync(draft, 'wx', mode)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

const DRAFT = '.tmp'

const draftPrefix = (target: string): string => `.${basename(target)}.`

const draftOf = (target: string, pid: number): string =>
  join(dirname(target), `${draftPrefix(target)}${pid}${DRAFT}`)

/** Removes the temporary files of killed writers. */
function sweep(target: string): void {
  for (const name of readdirSync(dirname(target))) {
    if (!name.startsWith(draftPrefix(target)) || !name.endsWith(DRAFT)) continue
    const pid = name.slice(draftPrefix(target).length, -DRAFT.length)
    if (/^\d+$/.test(pid) && (Number(pid) === process.pid || !isRunning(Number(pid))))
      removeIfThere(join(dirname(target), name))
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // Another process has removed it, or it was never created.
  }
}

function realpathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return join(realpathSync(dirname(path)), basename(path))
  }
}

function attempt<T>(shown: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure('output', `${shown} is left as it was: ${reasonOf(error)}`, { cause: error })
  }
}

/** Returns the reason why a file cannot be written, with advice. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return ADVICE[code ?? ''] ?? message
}

/** Returns the reason why a file or folder cannot be read, with advice. */
export function readingReasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return READING[code ?? ''] ?? message
}

const READING: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist; name an existing file',
  ENOTDIR: 'a part of its path is not a folder',
  EACCES: 'it cannot be read; change its permissions',
  EPERM: 'it cannot be read; change its permissions',
  EISDIR: 'it is a folder; name a file',
}

const ADVICE: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist; create it first',
  ENOTDIR: 'a part of its path is not a folder',
  EACCES: 'it cannot be written here; choose another folder or change the permissions',
  EPERM: 'it cannot be written here; choose another folder or change the permissions',
  EROFS: 'the file system is read-only; choose another folder',
  ENOSPC: 'the disk is full; free some space first',
  EDQUOT: 'the disk quota is used up; free some space first',
  EFBIG: 'the limit on file sizes is too low; raise it first',
  EISDIR: 'it is a folder; name a file',
}
