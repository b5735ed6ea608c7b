import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RanHere, runCommand } from '../run-command.js'

/** Where an operator works. */
export interface OperatorFolder {
  readonly path: string
  /** Runs `ashlar migrate` in it, on the database. */
  run(...args: readonly string[]): Promise<RanHere>
  /** Writes migrations into a folder in it. */
  ship(files: Readonly<Record<string, string>>, under: string): void
}

/** A new folder for each test of the `describe` around the call. */
export function operatorFolder(database: () => { readonly url: string }): OperatorFolder {
  let path: string
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'ashlar-operator-'))
  })
  afterEach(() => rmSync(path, { recursive: true }))
  return {
    get path() {
      return path
    },
    run: (...args) =>
      runCommand(['migrate', ...args], { cwd: path, env: { ASHLAR_DATABASE_URL: database().url } }),
    ship: (files, under) => {
      mkdirSync(join(path, under), { recursive: true })
      for (const [name, text] of Object.entries(files)) writeFileSync(join(path, under, name), text)
    },
  }
}
