// Puts bundles in the place of the modules that tsc has compiled: `node packages/bundle.mjs [folder]`, where the folder is that of the package.
// One build has every entry of `exports` and every command, so that each module is in one file and is loaded once.
import { build } from 'esbuild'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const root = resolve(process.argv[2] ?? join(import.meta.dirname, '..'))
const dist = join(root, 'dist')
const { exports, oclif } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** The first line of a class in what tsc writes. */
const CLASS = /^(?:export |let .* = )?class (\w+).*\{$/gm

/**
 * Packages of CommonJS that modules import. Before Node imports one, it reads the files of the package for the names that they export. So a
 * bundle imports a file that requires the package: the bundler of an application follows that too.
 */
const COMMON_JS = '@grpc/grpc-js|@oclif/core|nice-grpc|nice-grpc-common|reflect-metadata|typeorm|yaml'
/** An import of one in what tsc writes: all of its names, and the module. */
const IMPORT = new RegExp(`^import (?:(.*) from )?'((?:${COMMON_JS})(?:/.*)?)';$`, 'gm')

const compiled = ['lib', 'decorators', 'cli'].flatMap((folder) =>
  readdirSync(join(dist, folder), { recursive: true })
    .filter((path) => /\.js(\.map)?$/.test(path))
    .map((path) => join(dist, folder, path)),
)
const entries = Object.values(exports).flatMap((entry) => entry.default ?? [])
const commands = compiled.filter(
  (path) => path.startsWith(join(root, oclif.commands)) && path.endsWith('.js'),
)

const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: [...entries, ...commands, './dist/cli/main.js', oclif.helpClass.target],
  outdir: dist,
  outbase: dist,
  chunkNames: 'chunks/[name]-[hash]',
  assetNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  // `sideEffects` is for bundlers of applications: here, every import counts.
  ignoreAnnotations: true,
  sourcemap: true,
  sourcesContent: false,
  plugins: [
    { name: 'compiled modules', setup: readCompiled },
    { name: 'packages of CommonJS', setup: requirePackages },
  ],
  write: false,
})

for (const path of compiled) rmSync(path)
rmSync(join(dist, 'chunks'), { recursive: true, force: true })
// tsc would take the bundles for what it has compiled.
rmSync(join(dist, '.tsbuildinfo'), { force: true })
for (const { path, contents } of outputFiles) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, contents)
}

function readCompiled({ onLoad }) {
  onLoad({ filter: /[\\/]dist[\\/].*\.js$/ }, ({ path }) => ({
    contents: withRequired(withNames(readFileSync(path, 'utf8'))),
    loader: 'js',
  }))
}

/**
 * Classes keep their names, which frameworks and errors print: inside of a class that mentions itself, esbuild gives it another name. Its own
 * option `keepNames` would also name each function, at each call that makes one.
 */
function withNames(text) {
  return text.replaceAll(CLASS, (start, name) =>
    text.split(new RegExp(`\\b${name}\\b`)).length > 2
      ? `${start} static { Object.defineProperty(this, 'name', { value: '${name}' }) }`
      : start,
  )
}

/** Takes the names from the file that requires the package. A line stays a line, for the source map. */
function withRequired(text) {
  return text.replaceAll(IMPORT, (_, names, name) => {
    const file = `required:${name}`
    if (names === undefined) return `import '${file}';`
    const all = `all_${name.replaceAll(/\W/g, '_')}`
    return `import { all as ${all} } from '${file}'; const ${names.replace('* as ', '').replaceAll(' as ', ': ')} = ${all};`
  })
}

function requirePackages({ onResolve, onLoad }) {
  onResolve({ filter: /^required:/ }, ({ path }) => {
    const name = path.slice('required:'.length)
    return { path: `${name.replaceAll('/', '-')}.cjs`, namespace: 'required', pluginData: name }
  })
  // `module.exports = require()` would be read through to the package.
  onLoad({ filter: /./, namespace: 'required' }, ({ pluginData }) => ({
    contents: `exports.all = require('${pluginData}')\n`,
    loader: 'copy',
  }))
}
