import { expect } from 'chai'
import { drilling } from '../support/drill.js'
import { type Application, describeApplications } from '../support/projects/application.js'
import { NEST_11, SWC } from '../support/projects/application-settings.js'
import { sourcesOf } from '../support/projects/application-sources.js'

const NEST = 'node_modules/@nestjs/cli/bin/nest.js'
const TSX = 'node_modules/tsx/dist/cli.mjs'
const START = ['src/main.ts']
const WEBPACK = `require('webpack')({
    mode: 'development', target: 'node', entry: './src/main.ts', devtool: false,
    output: { path: __dirname + '/webpack', filename: 'main.js' },
    resolve: { extensions: ['.ts', '.js'] },
    externals: [({ request }, done) => (/^[^./]/.test(request) ? done(null, 'commonjs ' + request) : done())],
    module: { rules: [{ test: /\\.ts$/, loader: 'ts-loader' }] },
  }, (error, stats) => {
    if (error || stats.hasErrors()) throw error ?? new Error(stats.toString())
  })`

if (drilling)
  describeApplications('builders of an application', 'builders', (applications) => {
    let application: Application
    before(() => {
      application = applications().written('widgets', {
        ...sourcesOf(''),
        'tsconfig.json': NEST_11,
        'nest-cli.json': { sourceRoot: 'src', compilerOptions: { deleteOutDir: true } },
        '.swcrc': SWC,
        'webpack.js': WEBPACK,
      })
    })

    for (const builder of ['tsc', 'swc', 'webpack'])
      it(`nest build with ${builder}`, () => {
        application.run(NEST, ['build', '--builder', builder])
        expect(application.run('dist/main.js')).to.include('created: 200')
      })

    it('webpack', () => {
      application.run('webpack.js')
      expect(application.run('webpack/main.js')).to.include('created: 200')
    })

    it('tsup, which takes swc for the metadata of decorators', () => {
      application.run('node_modules/tsup/dist/cli-default.js', [
        ...START,
        '--format',
        'cjs,esm',
        '--out-dir',
        'tsup',
      ])
      for (const file of ['tsup/main.js', 'tsup/main.mjs'])
        expect(application.run(file)).to.include('created: 200')
    })

    it('@swc-node/register, which starts the sources', () => {
      const register = '--require @swc-node/register'
      expect(application.run(`${register} src/main.ts`)).to.include('created: 200')
    })

    it('tsx and esbuild, which emit no such metadata, with the types of columns', () => {
      const text = application.read('src/widget.ts')
      expect(application.failed(TSX, START)).to.include('Widget#id is not defined')
      application.write({
        'src/widget.ts': text
          .replaceAll(/@(\w*Column)\(\)( \w+!: string)/g, '@$1({ type: String })$2')
          .replaceAll(/@Column\(\)( \w+!: number)/g, '@Column({ type: Number })$1'),
      })
      expect(application.run(TSX, START)).to.include('created: 200')
      const bundle = ['--bundle', '--platform=node', '--packages=external', '--outfile=esbuild.js']
      application.run('node_modules/esbuild/bin/esbuild', [...START, ...bundle])
      expect(application.run('esbuild.js')).to.include('created: 200')
      application.write({ 'src/widget.ts': text })
    })
  })
