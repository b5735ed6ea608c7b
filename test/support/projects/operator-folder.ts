import { expect } from 'chai'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsonOf, type RanHere, runCommand } from '../run-command.js'

/** What a command that fails prints as JSON, with its exit status. */
export interface FailedRun {
  readonly exit: number | null
  readonly problems: readonly Readonly<Record<string, unknown>>[]
  readonly hasChanged: boolean | undefined
}

/** Where an operator works. */
export interface OperatorFolder {
  readonly path: string
  /** Where commands run: in it, or in the last checkout. */
  readonly cwd: string
  /** Runs `ashlar migrate` there, on the database. */
  run(...args: readonly string[]): Promise<RanHere>
  /** What it prints with `--json`. */
  json<T = object>(...args: readonly string[]): Promise<T>
  /** The same of a command that fails: why, as values. */
  failure(...args: readonly string[]): Promise<FailedRun>
  /** The only problem of such a command, beside its exit status. */
  refusal(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>>
  /**
   * Another state of the project, with the same migrations: a folder with `dist/entities.js`, which leads to
   * that module. A process loads a module once.
   */
  checkOut(entities: string): void
  /** Writes migrations into a folder in it. */
  ship(files: Readonly<Record<string, string>>, under: string): void
}

/** A new folder for each test of the `describe` around the call. */
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
