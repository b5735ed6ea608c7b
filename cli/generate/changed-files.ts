import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure } from '../errors/failure.js'
import { FOR_EVERYBODY, reasonOf, writeWholeFile } from '../output/whole-file.js'

/** Files that are written together, and put back together where what follows fails. */
export class ChangedFiles {
  readonly #texts = new Map<string, string>()
  readonly #before = new Map<string, string | undefined>()

  constructor(private readonly folder: string) {}

  /** The text that a file has, or will have; undefined where there is none. */
  text(path: string): string | undefined {
    const full = join(this.folder, path)
    return this.#texts.get(path) ?? (existsSync(full) ? readFileSync(full, 'utf8') : undefined)
  }

  set(path: string, text: string): void {
    if (text !== this.text(path)) this.#texts.set(path, text)
  }

  /** A file that must not be there yet. @throws {Failure} when it is. */
  add(path: string, text: string): void {
    if (this.text(path) !== undefined)
      throw new Failure('input', `${path} already exists: move it away, or choose another name`)
    this.#texts.set(path, text)
  }

  /** The files, new ones and changed ones. */
  get paths(): readonly { readonly path: string; readonly isNew: boolean }[] {
    return [...this.#texts.keys()].sort().map((path) => ({
      path,
      isNew: (this.#before.has(path) ? this.#before.get(path) : this.#onDisk(path)) === undefined,
    }))
  }

  /** Writes all of them. @throws {Failure} when one cannot be written; then all are as they were. */
  write(): void {
    try {
      for (const [path, text] of this.#texts) {
        const full = join(this.folder, path)
        this.#before.set(path, this.#onDisk(path))
        mkdirSync(dirname(full), { recursive: true })
        writeWholeFile(full, text, path, modeOf(full))
      }
    } catch (error) {
      this.restore()
      throw new Failure('output', `nothing is written: ${reasonOf(error)}`, { cause: error })
    }
  }

  /** Puts back what was there before `write`. */
  restore(): void {
    for (const [path, text] of this.#before) {
      const full = join(this.folder, path)
      if (text === undefined) rmSync(full, { force: true })
      else writeWholeFile(full, text, path, modeOf(full))
    }
  }

  #onDisk(path: string): string | undefined {
    const full = join(this.folder, path)
    return existsSync(full) ? readFileSync(full, 'utf8') : undefined
  }
}

/** The permissions of a file, which it keeps. */
const modeOf = (full: string): number => {
  const mode = statSync(full, { throwIfNoEntry: false })?.mode
  return mode === undefined ? FOR_EVERYBODY : mode & 0o777
}
