import { expect } from 'chai'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drilling } from '../support/drill.js'
import { type Application, describeApplications } from '../support/projects/application.js'
import { jest, JEST, JEST_FLAGS, nest12 } from '../support/projects/application-settings.js'
import { MIGRATIONS, sourcesOf } from '../support/projects/application-sources.js'
import { installNode } from '../support/running/installed-node.js'

const NEST = 'node_modules/@nestjs/cli/bin/nest.js'
const NEST_CLI = { sourceRoot: 'src', compilerOptions: { deleteOutDir: true } }

if (drilling)
  describeApplications('an application of Nest 12', 'nest-12', (applications) => {
    let modules: Application
    let commonjs: Application
    before(() => {
      const VITEST = `import { defineConfig } from 'vitest/config'
        export default defineConfig({ test: { globals: true, testTimeout: 60_000, include: ['src/**/*.test.ts'] } })`
      modules = applications().written(
        'modules',
        {
          ...sourcesOf('.js'),
          'tsconfig.json': nest12('vitest/globals'),
          'nest-cli.json': NEST_CLI,
          'vitest.config.mts': VITEST,
        },
        'module',
      )
      commonjs = applications().written('commonjs', {
        ...sourcesOf(''),
        'tsconfig.json': nest12('jest'),
        'nest-cli.json': NEST_CLI,
        'jest.json': jest('ts-jest'),
        'vitest.config.mts': VITEST,
      })
    })

    for (const builder of ['tsc', 'swc', 'rspack'])
      it(`of ES modules is built by nest build with ${builder}, and answers`, () => {
        modules.run(NEST, ['build', '--builder', builder])
        expect(modules.run('dist/main.js')).to.include('created: 200')
      })

    for (const builder of ['tsc', 'swc', 'webpack', 'rspack'])
      it(`of CommonJS is built by nest build with ${builder}, and answers`, () => {
        commonjs.run(NEST, ['build', '--builder', builder])
        expect(commonjs.run('dist/main.js')).to.include('created: 200')
      })

    it('of ES modules is refused by Nest with webpack', () => {
      expect(modules.failed(NEST, ['build', '--builder', 'webpack'])).to.include('does not support ESM')
    })

    it('is tested by Vitest as it comes, of ES modules and of CommonJS', () => {
      for (const application of [modules, commonjs])
        expect(application.run('node_modules/vitest/vitest.mjs', ['run'])).to.match(/Tests +\d+ passed/)
    })

    describe('of CommonJS, by Jest', () => {
      const flags = [...JEST_FLAGS, 'jest.json']
      let place: string
      before(() => {
        place = mkdtempSync(join(tmpdir(), 'ashlar-node-'))
        commonjs.write(MIGRATIONS)
      })
      after(() => rmSync(place, { recursive: true, force: true }))
      const nodeOf = (version: string): string => {
        const folder = join(place, version)
        mkdirSync(folder)
        return installNode(version, folder).node
      }

      for (const version of ['20', '22'])
        it(`on Node ${version} is tested except for what loads the ES modules that Nest 12 has`, () => {
          expect(commonjs.failed(JEST, flags, nodeOf(version))).to.match(
            /Must use import to load ES Module: .*@nestjs.*\n[^]*Tests: +\d+ passed/,
          )
        })

      it('on Node 24, which strips no decorators, is tested', () => {
        const node = nodeOf('24')
        expect(commonjs.run(`--experimental-vm-modules ${JEST}`, flags, node)).to.match(/Tests: +\d+ passed/)
        commonjs.write({ 'stripped.ts': 'const of = () => undefined\n@of\nclass Note {}\nnew Note()' })
        expect(commonjs.failed('stripped.ts', [], node)).to.include('SyntaxError')
      })
    })
  })
