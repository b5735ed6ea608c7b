import { expect } from 'chai'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { root } from '../root.js'
import { canPack, packedInto } from './packed-package.js'
import { unpackedInto } from './packed-project.js'

const TOOLS = join(root, 'test/support/applications')
/** A folder of extra tools, with packages that only some applications list in their `package.json`. */
export type Tools = 'builders' | 'nest-12'
/** The installed packages that an application needs. */
const PEERS = [
  ...['typeorm', 'sqlite3', '@bufbuild/protobuf', '@connectrpc/connect', '@types/node', 'esbuild'],
  ...['@nestjs/common', '@nestjs/core', '@nestjs/platform-express', 'rxjs', 'typescript-6', 'typescript-7'],
]
/** The installed name of packages that are installed under another name. */
const NAMED: Readonly<Record<string, string>> = {
  'typescript-6': 'typescript',
  'typescript-7': 'native-typescript',
}
/** The packages that an application lists as dependencies, for bundlers that leave dependencies out. */
const DEPENDENCIES = [
  ...['ashlar', 'ashlar-annotations', 'typeorm', 'sqlite3', '@bufbuild/protobuf', 'reflect-metadata'],
  ...['@nestjs/common', '@nestjs/core', '@nestjs/platform-express', 'rxjs'],
]

/** Creates applications that have the packed package, compilers and test frameworks. */
export class Applications {
  readonly #folder = mkdtempSync(join(tmpdir(), 'ashlar-applications-'))

  /**
   * @param tools - tools that take precedence over the installed packages.
   */
  constructor(tools?: Tools) {
    const packed = join(this.#folder, 'packed')
    mkdirSync(packed, { recursive: true })
    unpackedInto(this.#folder, packed, Object.values(packedInto(packed)), [])
    if (tools !== undefined) this.#linkAll(join(TOOLS, tools))
    for (const name of PEERS) this.link(name, join(root, 'node_modules', NAMED[name] ?? name))
    this.#linkAll(TOOLS)
  }

  /** Writes an application: the given files, and files that all applications have, such as `package.json`. */
  written(name: string, files: Files, type: 'commonjs' | 'module' = 'commonjs'): Application {
    const folder = join(this.#folder, name)
    mkdirSync(folder)
    // Bundlers look for packages next to the application.
    symlinkSync(join(this.#folder, 'node_modules'), join(folder, 'node_modules'))
    const dependencies = Object.fromEntries(DEPENDENCIES.map((one) => [one, '*']))
    const application = new Application(folder)
    application.write({ 'package.json': { name, private: true, type, dependencies }, ...files })
    return application
  }

  /** Links a package into the `node_modules` of the applications, unless it is there already. */
  link(name: string, target: string): void {
    const path = join(this.#folder, 'node_modules', name)
    if (existsSync(path)) return
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(target, path)
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #linkAll(tools: string): void {
    if (!existsSync(join(tools, 'node_modules/typescript')))
      execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
        cwd: tools,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
    const { devDependencies } = JSON.parse(readFileSync(join(tools, 'package.json'), 'utf8')) as {
      readonly devDependencies: object
    }
    for (const name of Object.keys(devDependencies)) this.link(name, join(tools, 'node_modules', name))
  }
}

/** File contents by path in the application. Values other than strings are written as JSON. */
type Files = Readonly<Record<string, unknown>>

/** An application on disk. */
export class Application {
  constructor(readonly folder: string) {}

  write(files: Files): void {
    for (const [file, value] of Object.entries(files))
      write(join(this.folder, file), typeof value === 'string' ? value : JSON.stringify(value))
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8')
  }

  /** Runs a program of a package or of the application until it exits. @returns its output. */
  run(path: string, args: readonly string[] = [], node = process.execPath): string {
    const { printed, status } = this.#ran(path, args, node)
    expect(status, `${path} ${args.join(' ')}\n${printed}`).to.equal(0)
    return printed
  }

  /** Runs a program that is expected to fail. @returns everything that it printed. */
  failed(path: string, args: readonly string[] = [], node = process.execPath): string {
    const { printed, status } = this.#ran(path, args, node)
    expect(status, `${path} ${args.join(' ')}\n${printed}`).to.not.equal(0)
    return printed
  }

  #ran(path: string, args: readonly string[], node: string): { printed: string; status: number | null } {
    const { NODE_OPTIONS: _, ...env } = process.env
    const [program = '', ...options] = path.split(' ').reverse()
    const { status, stdout, stderr } = spawnSync(node, [...options.reverse(), program, ...args], {
      cwd: this.folder,
      encoding: 'utf8',
      env: { ...env, CI: 'true', NO_COLOR: '1', NODE_ENV: 'development' },
    })
    return { printed: `${stdout}${stderr}`, status }
  }
}

/** Declares a test suite that creates the applications before its tests. */
export function describeApplications(
  name: string,
  tools: Tools | undefined,
  suite: (applications: () => Applications) => void,
): void {
  describe(name, () => {
    let applications: Applications | undefined
    before(function () {
      if (!canPack) this.skip()
      applications = new Applications(tools)
    })
    after(() => applications?.remove())
    suite(() => applications!)
  })
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
