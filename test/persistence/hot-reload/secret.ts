import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file that holds a DSN, laid out as Kubernetes does: `dsn` → `..data/dsn`, `..data` → a folder. */
export class HotSecret {
  readonly folder = mkdtempSync(join(tmpdir(), 'ashlar-dsn-'))
  readonly path = join(this.folder, 'dsn')
  #version = 0

  constructor(dsn: string) {
    this.#lay(dsn)
    symlinkSync(join('..data', 'dsn'), this.path)
  }

  dsn(engine: string): string {
    return `fsnotify://${engine}${this.path}`
  }

  rewrite(text: string): void {
    writeFileSync(this.path, text)
  }

  renameOver(text: string): void {
    writeFileSync(join(this.folder, 'new'), text)
    renameSync(join(this.folder, 'new'), this.path)
  }

  swapLink(text: string): void {
    this.#lay(text)
    if (lstatSync(this.path).isSymbolicLink()) return
    symlinkSync(join('..data', 'dsn'), join(this.folder, 'link'))
    renameSync(join(this.folder, 'link'), this.path)
  }

  truncate(): void {
    truncateSync(this.path)
  }

  /** Another file of the folder comes and goes. */
  makeNoise(): void {
    writeFileSync(join(this.folder, 'noise'), 'noise')
    rmSync(join(this.folder, 'noise'))
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** As the kubelet does it: a new folder, a new link renamed over the old one, the old folder removed. */
  #lay(text: string): void {
    const old = join(this.folder, `..v${this.#version}`)
    const name = `..v${++this.#version}`
    mkdirSync(join(this.folder, name))
    writeFileSync(join(this.folder, name, 'dsn'), text)
    symlinkSync(name, join(this.folder, '..data_tmp'))
    renameSync(join(this.folder, '..data_tmp'), join(this.folder, '..data'))
    rmSync(old, { recursive: true, force: true })
  }
}
