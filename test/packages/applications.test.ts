import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drilling } from '../support/drill.js'
import { applicationsIn, writeApplication } from '../support/projects/application.js'
import { canPack } from '../support/projects/packed-package.js'
import { installNode } from '../support/running/installed-node.js'

/** What `nest new` writes, with the types that its tests need. */
const OPTIONS = {
  ...{
    module: 'commonjs',
    target: 'ES2022',
    outDir: 'dist',
    rootDir: 'src',
    strict: true,
    skipLibCheck: true,
  },
  ...{ emitDecoratorMetadata: true, experimentalDecorators: true, esModuleInterop: true },
  types: ['node', 'jest'],
}
const NODE10 = { compilerOptions: OPTIONS, include: ['src'] }
const JEST = { rootDir: 'src', testTimeout: 60_000, moduleFileExtensions: ['ts', 'js'] }
const SWC = {
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    target: 'es2022',
  },
  module: { type: 'commonjs' },
}
const BABEL = {
  presets: [['@babel/preset-env', { targets: { node: '20' } }]],
  plugins: [
    'babel-plugin-transform-typescript-metadata',
    // Before the decorators: they give a field that is declared with ! a value.
    '@babel/plugin-transform-typescript',
    ['@babel/plugin-proposal-decorators', { version: 'legacy' }],
    ['@babel/plugin-transform-class-properties', { loose: true }],
    'babel-plugin-parameter-decorator',
  ],
}
const jest = (transform: unknown) => ({ ...JEST, transform: { '^.+\\.ts$': transform } })
const SETTINGS = {
  'tsconfig.json': NODE10,
  'jest-swc.json': jest(['@swc/jest', SWC]),
  'jest-ts.json': jest(['ts-jest', { tsconfig: '<rootDir>/../tsconfig.json' }]),
  'jest-babel.json': jest(['babel-jest', BABEL]),
  'webpack.js': `require('webpack')({
    mode: 'development', target: 'node', entry: './src/main.ts', devtool: false,
    output: { path: __dirname + '/webpack', filename: 'main.js' },
    resolve: { extensions: ['.ts', '.js'] },
    externals: [({ request }, done) => (/^[^./]/.test(request) ? done(null, 'commonjs ' + request) : done())],
    module: { rules: [{ test: /\\.ts$/, loader: 'ts-loader' }] },
  }, (error, stats) => {
    if (error || stats.hasErrors()) throw error ?? new Error(stats.toString())
  })`,
  'vitest.config.mts': `import swc from 'unplugin-swc'
    import { defineConfig } from 'vitest/config'
    export default defineConfig({ plugins: [swc.vite()], test: { globals: true, testTimeout: 60_000, include: ['src/**/*.test.ts'] } })`,
}
const JEST_RUN = ['node_modules/jest/bin/jest.js', '--no-cache', '-i', '-c'] as const

const describeDrill = drilling ? describe : describe.skip

describe('an application that has the packed package', function () {
  this.timeout(600_000)
  let folder: string
  let application: string

  before(function () {
    if (!canPack) this.skip()
    folder = mkdtempSync(join(tmpdir(), 'ashlar-applications-'))
    applicationsIn(folder)
    application = join(folder, 'widgets')
    mkdirSync(application)
    writeApplication(application, SETTINGS)
  })
  after(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  /** Runs a program of a package in the application, and returns all that it printed. */
  const run = (path: string, args: readonly string[], node = process.execPath): string => {
    const { NODE_OPTIONS: _, ...env } = process.env
    const { status, stdout, stderr } = spawnSync(node, [join(folder, path), ...args], {
      cwd: application,
      encoding: 'utf8',
      env: { ...env, CI: 'true', NO_COLOR: '1', NODE_ENV: 'development' },
    })
    expect(status, `${path} ${args.join(' ')}\n${stdout}${stderr}`).to.equal(0)
    return `${stdout}${stderr}`
  }
  const [JEST_PATH, ...JEST_ARGS] = JEST_RUN
  const TSC = 'node_modules/typescript/bin/tsc'

  it('of Nest and CommonJS is compiled with moduleResolution node10, and answers', () => {
    run(TSC, ['-p', '.'])
    expect(run('widgets/dist/main.js', [])).to.include('created: 200')
  })

  it('is tested by Jest as it comes, with @swc/jest', () => {
    expect(run(JEST_PATH, [...JEST_ARGS, 'jest-swc.json'])).to.match(/Tests: +\d+ passed/)
  })

  describeDrill('built and tested in other ways', () => {
    for (const transform of ['jest-ts.json', 'jest-babel.json'])
      it(`is tested by Jest with ${transform}`, () => {
        expect(run(JEST_PATH, [...JEST_ARGS, transform])).to.match(/Tests: +\d+ passed/)
      })

    it('is tested by Vitest with swc', () => {
      expect(run('node_modules/vitest/vitest.mjs', ['run'])).to.match(/Tests +\d+ passed/)
    })

    it('is started by ts-node', () => {
      expect(run('node_modules/ts-node/dist/bin.js', ['src/main.ts'])).to.include('created: 200')
    })

    it('names the first property without a type where nothing emits decorator metadata', () => {
      const entity = join(application, 'src/widget.ts')
      const text = readFileSync(entity, 'utf8')
      const start = ['src/main.ts']
      expect(() => run('node_modules/tsx/dist/cli.mjs', start)).to.throw(/Widget#id is not defined/)
      const typed = text
        .replaceAll(/@(\w*Column)\(\)( \w+!: string)/g, '@$1({ type: String })$2')
        .replaceAll(/@Column\(\)( \w+!: number)/g, '@Column({ type: Number })$1')
      writeFileSync(entity, typed)
      expect(run('node_modules/tsx/dist/cli.mjs', start)).to.include('created: 200')
      const bundle = ['--bundle', '--platform=node', '--packages=external', '--outfile=esbuild.js']
      run('node_modules/esbuild/bin/esbuild', ['src/main.ts', ...bundle])
      expect(run('widgets/esbuild.js', [])).to.include('created: 200')
      writeFileSync(entity, text)
    })

    it('is bundled by webpack', () => {
      run('widgets/webpack.js', [])
      expect(run('widgets/webpack/main.js', [])).to.include('created: 200')
    })

    for (const version of ['22', '24'])
      it(`is started by Node ${version}, and tested by its Jest`, () => {
        const place = join(folder, `node-${version}`)
        mkdirSync(place)
        const { node } = installNode(version, place)
        expect(run('widgets/dist/main.js', [], node)).to.include('created: 200')
        expect(run(JEST_PATH, [...JEST_ARGS, 'jest-swc.json'], node)).to.match(/Tests: +\d+ passed/)
      })

    for (const [compiler, modules] of [
      ['typescript-5.4', ['commonjs node10', 'node16 node16', 'nodenext nodenext', 'esnext bundler']],
      ['typescript', ['commonjs node10', 'node16 node16', 'nodenext nodenext', 'esnext bundler']],
      ['typescript-6', ['node16 node16', 'nodenext nodenext', 'esnext bundler']],
      ['typescript-7', ['node16 node16', 'nodenext nodenext', 'esnext bundler', 'commonjs bundler']],
    ] as const)
      for (const pair of modules)
        it(`is type-checked by ${compiler} with ${pair}`, () => {
          const [module = '', moduleResolution = ''] = pair.split(' ')
          const flags = ['--module', module, '--moduleResolution', moduleResolution]
          run(`node_modules/${compiler}/bin/tsc`, ['-p', '.', '--noEmit', ...flags])
        })
  })
})
