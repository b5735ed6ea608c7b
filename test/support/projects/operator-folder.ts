import { expect } from 'chai'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsonOf, type RanHere, runCommand } from '../run-command.js'

/** The JSON output of a failed command, with its exit status. */
export interface FailedRun {
  readonly exit: number | null
  readonly problems: readonly Readonly<Record<string, unknown>>[]
  readonly hasChanged: boolean | undefined
}

/** The folder in which an operator runs commands. */
export interface OperatorFolder {
  readonly path: string
  /** The folder in which commands run: this folder or the last checkout. */
  readonly cwd: string
  /** Runs `ashlar migrate` in `cwd` on the database. */
  run(...args: readonly string[]): Promise<RanHere>
  /** Runs the command with `--json` and returns its output. */
  json<T = object>(...args: readonly string[]): Promise<T>
  /** Runs a command that must fail with `--json` and returns the error. */
  failure(...args: readonly string[]): Promise<FailedRun>
  /**
   * Runs a command that must fail with exactly one problem, and returns that problem with the exit status.
   */
  refusal(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>>
  /**
   * Switches to another state of the project with the same migrations: a folder whose `dist/entities.js` is a
   * link to the given module. A new folder is needed because a process loads a module only once.
   */
  checkOut(entities: string): void
  /** Writes migrations into a folder below this one. */
  ship(files: Readonly<Record<string, string>>, under: string): void
}

/** Creates a new folder for each test of the enclosing `describe` and removes it afterwards. */
export function operatorFolder(database: () => { readonly url: string }): OperatorFolder {
  let path: string
  let checkout: string
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'ashlar-operator-'))
    checkout = path
  })
  afterEach(() => rmSync(path, { recursive: true }))
  const run = (...args: readonly string[]) =>
    runCommand(['migrate', ...args], { cwd: checkout, env: { ASHLAR_DATABASE_URL: database().url } })
  const failure = async (...args: readonly string[]): Promise<FailedRun> => {
    const ran = await run(...args, '--json')
    const { error } = jsonOf<{ readonly error?: Partial<FailedRun> }>(ran)
    return { exit: ran.exit, problems: error?.problems ?? [], hasChanged: error?.hasChanged }
  }
  return {
    get path() {
      return path
    },
    get cwd() {
      return checkout
    },
    run,
    json: async (...args) => jsonOf(await run(...args, '--json')),
    failure,
    refusal: async (...args) => {
      const { exit, problems, hasChanged } = await failure(...args)
      expect(problems, String(exit)).to.have.length(1)
      return { exit, hasChanged, ...problems[0] }
    },
    checkOut: (entities) => {
      checkout = mkdtempSync(join(path, 'checkout-'))
      mkdirSync(join(checkout, 'dist'))
      symlinkSync(entities, join(checkout, 'dist', 'entities.js'))
      mkdirSync(join(path, 'migrations'), { recursive: true })
      symlinkSync(join(path, 'migrations'), join(checkout, 'migrations'))
    },
    ship: (files, under) => {
      mkdirSync(join(path, under), { recursive: true })
      for (const [name, text] of Object.entries(files)) writeFileSync(join(path, under, name), text)
    },
  }
}
