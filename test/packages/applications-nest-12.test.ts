import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drilling } from '../support/drill.js'
import { type Application, describeApplications } from '../support/projects/application.js'
import { jest, JEST, JEST_FLAGS, nest12 } from '../support/projects/application-settings.js'
import { sourcesOf } from '../support/projects/application-sources.js'
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

    it('of ES modules is tested by Vitest as it comes', () => {
      expect(modules.run('node_modules/vitest/vitest.mjs', ['run'])).to.match(/Tests +\d+ passed/)
    })

    it('of CommonJS is tested by Jest, where Jest loads the ES modules that Nest 12 has, on a Node that strips no decorators', () => {
      expect(commonjs.failed(JEST, [...JEST_FLAGS, 'jest.json'])).to.match(
        /Must use import to load ES Module: .*@nestjs.*\n[^]*Tests: +\d+ passed/,
      )
      const place = mkdtempSync(join(tmpdir(), 'ashlar-node-24-'))
      try {
        const { node } = installNode('24', place)
        const printed = commonjs.run(`--experimental-vm-modules ${JEST}`, [...JEST_FLAGS, 'jest.json'], node)
        expect(printed).to.match(/Tests: +\d+ passed/)
        commonjs.write({ 'stripped.ts': 'const of = () => undefined\n@of\nclass Note {}\nnew Note()' })
        expect(commonjs.failed('stripped.ts', [], node)).to.include('SyntaxError')
      } finally {
        rmSync(place, { recursive: true, force: true })
      }
    })
  })
