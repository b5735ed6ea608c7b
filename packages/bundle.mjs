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
  plugins: [{ name: 'names of decorated classes', setup: keepNames }],
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

/**
 * Classes keep their names, which frameworks and errors print: inside of a class that mentions itself, esbuild gives it another name. Its own
 * option `keepNames` would also name each function, at each call that makes one.
 */
function keepNames({ onLoad }) {
  onLoad({ filter: /[\\/]dist[\\/].*\.js$/ }, ({ path }) => {
    const text = readFileSync(path, 'utf8')
    const contents = text.replaceAll(CLASS, (start, name) =>
      text.split(new RegExp(`\\b${name}\\b`)).length > 2
        ? `${start} static { Object.defineProperty(this, 'name', { value: '${name}' }) }`
        : start,
    )
    return { contents, loader: 'js' }
  })
}
