import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drilling } from '../support/drill.js'
import { type Application, describeApplications } from '../support/projects/application.js'
import { entriesSource, MIGRATIONS, sourcesOf } from '../support/projects/application-sources.js'
import { testDatabase, type TestDatabase } from '../support/databases/test-database.js'
import { root } from '../support/root.js'
import { installNode } from '../support/running/installed-node.js'
import { serviceUrl } from '../support/running/services.js'
import { blocksOf } from '../support/sources/documents.js'
import {
  BABEL,
  jest,
  JEST,
  JEST_FLAGS,
  NEST_11,
  nest12,
  SWC,
  TSC,
} from '../support/projects/application-settings.js'

const SETTINGS = {
  'tsconfig.json': NEST_11,
  'jest-swc.json': jest(['@swc/jest', SWC]),
  'jest-ts.json': jest(['ts-jest', { tsconfig: '<rootDir>/../tsconfig.json' }]),
  'jest-babel.json': jest(['babel-jest', BABEL]),
  'vitest.config.mts': `import swc from 'unplugin-swc'
    import { defineConfig } from 'vitest/config'
    export default defineConfig({ plugins: [swc.vite()], test: { globals: true, testTimeout: 60_000, include: ['src/{widgets,nest}.test.ts'] } })`,
}

/** A block of the guide. */
interface Shown {
  readonly compilerOptions?: object
  readonly jest?: { readonly transform: object }
}

const describeDrill = drilling ? describe : describe.skip

describeApplications('an application of Nest 11 and CommonJS', undefined, (applications) => {
  let application: Application
  before(() => {
    application = applications().written('widgets', { ...sourcesOf(''), ...MIGRATIONS, ...SETTINGS })
  })

  it('has the settings that the guide shows', () => {
    const blocks = blocksOf('docs/guides/existing-application.md')
      .filter(({ language }) => language === 'json')
      .map(({ text }) => JSON.parse(text) as Shown)
    const [commonjs, nodenext, withSwc, babel, ...others] = blocks
    expect(NEST_11.compilerOptions).to.deep.include(commonjs?.compilerOptions)
    expect(nest12('node').compilerOptions).to.deep.include({ ...nodenext?.compilerOptions, target: 'ES2023' })
    expect(withSwc?.jest?.transform).to.deep.equal(jest(['@swc/jest', SWC]).transform)
    expect(babel).to.deep.equal(BABEL)
    expect(others).to.deep.equal([])
  })

  it('is compiled with moduleResolution node10, and answers', () => {
    application.run(TSC, ['-p', '.'])
    expect(application.run('dist/main.js')).to.include('created: 200')
  })

  it('is tested by Jest as it comes, with @swc/jest', () => {
    expect(application.run(JEST, [...JEST_FLAGS, 'jest-swc.json'])).to.match(/Tests: +\d+ passed/)
  })

  describeDrill('built and tested in other ways', () => {
    let database: TestDatabase | undefined
    before(async () => {
      if (serviceUrl('postgres') === undefined) return
      database = await testDatabase('postgres')
      applications().link('pg', join(root, 'node_modules/pg'))
      application.write({ 'src/database.ts': `export const url: string | undefined = '${database.url}'` })
    })
    after(() => database?.drop())

    for (const transform of ['jest-ts.json', 'jest-babel.json'])
      it(`is tested by Jest with ${transform}`, () => {
        expect(application.run(JEST, [...JEST_FLAGS, transform])).to.match(/Tests: +\d+ passed/)
      })

    it('is tested by Vitest with swc', () => {
      expect(application.run('node_modules/vitest/vitest.mjs', ['run'])).to.match(/Tests +\d+ passed/)
    })

    it('is started by ts-node, which loads an up migration that is TypeScript', () => {
      const tsNode = 'node_modules/ts-node/dist/bin.js'
      expect(application.run(tsNode, ['src/main.ts'])).to.include('created: 200')
      expect(application.run(tsNode, ['src/read-migrations.ts'])).to.include('read')
    })

    it('is not tested by Vitest 3 without swc, which names the first column without a type', () => {
      application.write({
        'vitest-alone.mts': `import { defineConfig } from 'vitest/config'
          export default defineConfig({ test: { globals: true, include: ['src/widgets.test.ts'] } })`,
      })
      expect(
        application.failed('node_modules/vitest/vitest.mjs', ['run', '-c', 'vitest-alone.mts']),
      ).to.include('Widget#id is not defined')
    })

    for (const version of ['22', '24'])
      describe(`on Node ${version}`, () => {
        let place: string
        let node: string
        before(() => {
          place = mkdtempSync(join(tmpdir(), `ashlar-node-${version}-`))
          node = installNode(version, place).node
        })
        after(() => rmSync(place, { recursive: true, force: true }))

        it('is started', () => {
          expect(application.run('dist/main.js', [], node)).to.include('created: 200')
        })

        for (const transform of ['jest-swc.json', 'jest-ts.json', 'jest-babel.json'])
          it(`is tested by Jest with ${transform}`, () => {
            expect(application.run(JEST, [...JEST_FLAGS, transform], node)).to.match(/Tests: +\d+ passed/)
          })
      })
  })

  describeDrill('with every entry of the packages', () => {
    let modules: Application
    before(() => {
      application.write({ 'src/entries.ts': entriesSource() })
      modules = applications().written(
        'modules',
        { ...sourcesOf('.js'), 'src/entries.ts': entriesSource(), 'tsconfig.json': NEST_11 },
        'module',
      )
    })

    for (const [compiler, commonjs] of [
      ['typescript-5.4', ['commonjs node10']],
      ['typescript', ['commonjs node10']],
      ['typescript-6', ['commonjs node10 --ignoreDeprecations 6.0', 'commonjs bundler']],
      ['typescript-7', ['commonjs bundler']],
    ] as const)
      for (const pair of [...commonjs, 'node16 node16', 'nodenext nodenext', 'esnext bundler']) {
        const [module = '', moduleResolution = '', ...more] = pair.split(' ')
        const flags = [
          '--rootDir',
          'src',
          '--module',
          module,
          '--moduleResolution',
          moduleResolution,
          ...more,
        ]
        const checked = (one: Application) =>
          one.run(`node_modules/${compiler}/bin/tsc`, ['-p', '.', '--noEmit', ...flags])
        it(`is type-checked by ${compiler} with ${pair}`, () => {
          checked(application)
        })
        if (module !== 'commonjs')
          it(`of ES modules is type-checked by ${compiler} with ${pair}`, () => {
            checked(modules)
          })
      }
  })
})
