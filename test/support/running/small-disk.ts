import { execFileSync } from 'node:child_process'
import { chmodSync, closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PAGE = new Uint8Array(4096)

/** A small file system in memory that a test can fill up. Mounting it requires root. */
export class SmallDisk {
  private constructor(readonly path: string) {}

  /**
   * Mounts a file system of the given size in MiB. @returns the message of the error if it cannot be mounted.
   */
  static of(mib: number): SmallDisk | string {
    const path = mkdtempSync(join(tmpdir(), 'ashlar-disk-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m`, 'tmpfs', path], { stdio: 'pipe' })
    } catch (error) {
      rmdirSync(path)
      return error instanceof Error ? error.message.trim() : String(error)
    }
    chmodSync(path, 0o1777)
    return new SmallDisk(path)
  }

  get #filler(): string {
    return join(this.path, 'filler')
  }

  /** Fills the file system until no further page can be written. */
  fill(): void {
    const file = openSync(this.#filler, 'a')
    try {
      for (;;) writeSync(file, PAGE)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
    } finally {
      closeSync(file)
    }
  }

  free(): void {
    rmSync(this.#filler, { force: true })
  }

  remove(): void {
    execFileSync('umount', ['--lazy', this.path], { stdio: 'pipe' })
    rmdirSync(this.path)
  }
}
