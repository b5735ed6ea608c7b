import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure } from '../errors/failure.js'
import { FOR_EVERYBODY, reasonOf, writeWholeFile } from '../output/whole-file.js'

/** Files that are written together and restored together if a later step fails. */
export class ChangedFiles {
  readonly #texts = new Map<string, string>()
  readonly #before = new Map<string, string | undefined>()

  constructor(private readonly folder: string) {}

  /** Returns the current or new text of a file; undefined if it does not exist. */
  text(path: string): string | undefined {
    const full = join(this.folder, path)
    return this.#texts.get(path) ?? (existsSync(full) ? readFileSync(full, 'utf8') : undefined)
  }

  set(path: string, text: string): void {
    if (text !== this.text(path)) this.#texts.set(path, text)
  }

  /**
   * Adds a new file.
   * @throws {Failure} if it exists.
   */
  add(path: string, text: string): void {
    if (this.text(path) !== undefined)
      throw new Failure('input', `${path} already exists: move it away, or choose another name`)
    this.#texts.set(path, text)
  }

  /** The new and the changed files. */
  get paths(): readonly { readonly path: string; readonly isNew: boolean }[] {
    return [...this.#texts.keys()].sort().map((path) => ({
      path,
      isNew: (this.#before.has(path) ? this.#before.get(path) : this.#onDisk(path)) === undefined,
    }))
  }

  /**
   * Writes all files.
   * @throws {Failure} if one cannot be written. Then all are restored.
   */
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

  /** Restores the files as they were before `write`. */
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

/** Returns the permissions of a file, which are kept. */
const modeOf = (full: string): number => {
  const mode = statSync(full, { throwIfNoEntry: false })?.mode
  return mode === undefined ? FOR_EVERYBODY : mode & 0o777
}
