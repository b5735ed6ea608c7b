import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { drilling } from '../support/drill.js'
import { run } from '../support/projects/packed-package.js'
import { root } from '../support/root.js'

/** A checkout whose build and bundles are quick. */
const CHECKOUT = {
  'package.json': JSON.stringify({
    ...{ name: 'packed', version: '1.0.0', files: ['dist'] },
    scripts: {
      build: 'node build.mjs',
      prepack: 'node packages/pack.mjs begin',
      postpack: 'node packages/pack.mjs end',
    },
  }),
  'build.mjs': `import { mkdirSync, writeFileSync } from 'node:fs'
    mkdirSync('dist', { recursive: true })
    writeFileSync('dist/main.js', 'compiled anew')
    if (process.env.BUILD_FAILS) process.exit(1)`,
  'packages/bundle.mjs': `import { readFileSync, writeFileSync } from 'node:fs'
    writeFileSync('dist/main.js', 'a bundle')
    const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
    writeFileSync('package.json', JSON.stringify({ ...manifest, main: 'dist/main.js' }))`,
  'dist/main.js': 'as it was compiled',
  'dist/.tsbuildinfo': 'what was compiled',
}

const suite = drilling ? describe : describe.skip
suite('npm pack', () => {
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-checkout-'))
    for (const [file, text] of Object.entries(CHECKOUT)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    cpSync(join(root, 'packages/pack.mjs'), join(folder, 'packages/pack.mjs'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const pack = () => {
    run(folder, 'npm', 'pack')
    const tarball = join(folder, 'packed-1.0.0.tgz')
    const packed = execFileSync('tar', ['-xzOf', tarball, 'package/dist/main.js', 'package/package.json'])
    rmSync(tarball)
    return packed.toString()
  }
  const expectAsBefore = () => {
    for (const [file, text] of Object.entries(CHECKOUT))
      expect(readFileSync(join(folder, file), 'utf8'), file).to.equal(text)
    expect(readdirSync(join(folder, 'dist')).sort()).to.deep.equal(['.tsbuildinfo', 'main.js'])
    expect(readdirSync(folder).sort()).to.deep.equal(['build.mjs', 'dist', 'package.json', 'packages'])
  }

  it('packs bundles, and leaves dist and package.json of the checkout as they were', () => {
    expect(pack()).to.include('a bundle').and.include('"main"')
    expectAsBefore()
  })

  it('leaves them so where the build fails', () => {
    process.env['BUILD_FAILS'] = '1'
    try {
      expect(pack).to.throw('packages/pack.mjs begin')
    } finally {
      delete process.env['BUILD_FAILS']
    }
    expectAsBefore()
  })

  it('leaves them so after it was interrupted', () => {
    run(folder, process.execPath, 'packages/pack.mjs', 'begin')
    expect(existsSync(join(folder, 'dist/.tsbuildinfo'))).to.equal(false)
    expect(pack()).to.include('a bundle')
    expectAsBefore()
  })
})
