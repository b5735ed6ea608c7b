import { expect } from 'chai'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { root } from '../root.js'
import { canPack, packedInto } from './packed-package.js'
import { unpackedInto } from './packed-project.js'

const TOOLS = join(root, 'test/support/applications')
/** A folder of tools below that of all: what a `package.json` lists that only some applications need. */
export type Tools = 'builders' | 'nest-12'
/** Packages of an application, as they are installed here. */
const PEERS = [
  ...['typeorm', 'sqlite3', '@bufbuild/protobuf', '@connectrpc/connect', '@types/node', 'esbuild'],
  ...['@nestjs/common', '@nestjs/core', '@nestjs/platform-express', 'rxjs', 'typescript-6', 'typescript-7'],
]
/** Where a package is that has another name here. */
const NAMED: Readonly<Record<string, string>> = {
  'typescript-6': 'typescript',
  'typescript-7': 'native-typescript',
}
/** What an application lists, for builders that leave these out of a bundle. */
const DEPENDENCIES = [
  ...['ashlar', 'ashlar-annotations', 'typeorm', 'sqlite3', '@bufbuild/protobuf', 'reflect-metadata'],
  ...['@nestjs/common', '@nestjs/core', '@nestjs/platform-express', 'rxjs'],
]

/** Applications that have the packed package, compilers and test frameworks. */
export class Applications {
  readonly #folder = mkdtempSync(join(tmpdir(), 'ashlar-applications-'))

  /** @param tools - take precedence over the packages that are installed here. */
  constructor(tools?: Tools) {
    const packed = join(this.#folder, 'packed')
    mkdirSync(packed, { recursive: true })
    unpackedInto(this.#folder, packed, Object.values(packedInto(packed)), [])
    if (tools !== undefined) this.#linkAll(join(TOOLS, tools))
    for (const name of PEERS) this.link(name, join(root, 'node_modules', NAMED[name] ?? name))
    this.#linkAll(TOOLS)
  }

  /**
   * Writes an application: its files, and those that it has in common with others, `package.json` among them.
   */
  written(name: string, files: Files, type: 'commonjs' | 'module' = 'commonjs'): Application {
    const folder = join(this.#folder, name)
    mkdirSync(folder)
    // Builders look for packages where the application is.
    symlinkSync(join(this.#folder, 'node_modules'), join(folder, 'node_modules'))
    const dependencies = Object.fromEntries(DEPENDENCIES.map((one) => [one, '*']))
    const application = new Application(folder)
    application.write({ 'package.json': { name, private: true, type, dependencies }, ...files })
    return application
  }

  /** Makes a package one that the applications have, unless they have it. */
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

/** Texts, and what is written as JSON, by their paths in an application. */
type Files = Readonly<Record<string, unknown>>

/** One application. */
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

  /** Runs a program that has to fail. @returns all that it printed. */
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

/** A suite of applications, which are made before it. */
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
