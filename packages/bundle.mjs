// Puts what is published in the place of what tsc has compiled: `node packages/bundle.mjs [folder]`, where the folder is that of the package.
//
// dist/cjs         all code, as bundles of CommonJS, and its declarations: for those who require it
// dist/lib, …      at the place of each entry an ES module that exports what the bundle of the entry exports, and the declarations that tsc has
//                  written: for those who import it
// dist/packages    what both need of other packages
// package.json     where each of them finds its own
//
// So a process has one copy of the code, however it is loaded.
import { build, buildSync } from 'esbuild'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const home = join(import.meta.dirname, '..')
const root = resolve(process.argv[2] ?? home)
const dist = join(root, 'dist')
const cjs = join(dist, 'cjs')
const LOADING = join(cjs, 'packages/loading.cjs')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const { exports, oclif } = manifest

/** The first line of a class in what tsc writes. */
const CLASS = /^(?:export |let .* = )?class (\w+).*\{$/gm
/** What a bundle imports and exports, as esbuild writes it. */
const IMPORT = /^import (?:([\w\s,{}*$]+) from )?"([^"\n]+)";$/gm
const DYNAMIC_IMPORT = /\bimport\((?:"([^"\n]+)"|(\w+))\)/g
const EXPORT = /^export \{([\w\s,$]+)\};$/m
const AS = /([\w$]+) as ([\w$]+)/g

const compiled = ['lib', 'decorators', 'cli'].flatMap((folder) =>
  readdirSync(join(dist, folder), { recursive: true })
    .filter((path) => /\.js(\.map)?$/.test(path))
    .map((path) => join(dist, folder, path)),
)
const entries = Object.values(exports).flatMap((entry) => entry.default ?? [])
const commands = compiled.filter(
  (path) => path.startsWith(join(root, oclif.commands)) && path.endsWith('.js'),
)

// One build has every entry of `exports` and every command, so that each module is in one file and is loaded once. It makes ES modules, since
// esbuild shares files between those alone; `inCommonJs` is what they become.
const { outputFiles, metafile } = await build({
  absWorkingDir: root,
  entryPoints: [...entries, ...commands, './dist/cli/main.js', oclif.helpClass.target],
  outdir: cjs,
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
  metafile: true,
  plugins: [{ name: 'compiled modules', setup: readCompiled }],
  write: false,
})
const bundles = new Map(Object.entries(metafile.outputs).map(([path, output]) => [join(root, path), output]))

for (const path of compiled) rmSync(path)
for (const folder of [cjs, join(dist, 'packages')]) rmSync(folder, { recursive: true, force: true })
for (const folder of ['lib', 'decorators']) cpSync(join(dist, folder), join(cjs, folder), { recursive: true })
write(join(cjs, 'package.json'), '{ "type": "commonjs" }\n')
cpSync(join(home, 'packages/loading.cjs'), LOADING)
for (const { path, text } of outputFiles) write(path, path.endsWith('.map') ? text : inCommonJs(path, text))
for (const [path, { entryPoint }] of bundles)
  if (entryPoint !== undefined && entryPoint === relative(root, path).replace('/cjs/', '/'))
    write(join(root, entryPoint), wrapperOf(path, join(root, entryPoint)))
write(join(root, 'package.json'), `${JSON.stringify(published(), null, 2)}\n`)
// tsc would take the bundles for what it has compiled.
rmSync(join(dist, '.tsbuildinfo'), { force: true })

/** package.json, in which the checkout has ES modules alone. */
function published() {
  const entries = Object.entries(exports)
  const both = entries.map(([name, entry]) =>
    typeof entry === 'string' ? [name, entry] : [name, { import: entry, require: required(entry) }],
  )
  const { types, default: main } = required(exports['.'])
  // A resolution that knows no `exports` finds the types of an entry here.
  const declarations = entries.flatMap(([name, entry]) =>
    name === '.' || typeof entry === 'string' ? [] : [[name.slice(2), [required(entry).types.slice(2)]]],
  )
  return {
    ...manifest,
    main,
    types,
    exports: Object.fromEntries(both),
    typesVersions: { '*': Object.fromEntries(declarations) },
  }
}

/** An entry as those have it who require it. */
function required(entry) {
  const paths = Object.entries(entry).map(([condition, path]) => [
    condition,
    path.replace('./dist/', './dist/cjs/'),
  ])
  return Object.fromEntries(paths)
}

function readCompiled({ onLoad }) {
  onLoad({ filter: /[\\/]dist[\\/].*\.js$/ }, ({ path }) => ({
    contents: withNames(readFileSync(path, 'utf8')),
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

/** The bundle with `require` and `module.exports`. A line stays a line, for the source map. */
function inCommonJs(path, text) {
  const required = (name) => `require("${ownFileFor(name, path) ?? name}")`
  const loading = `require("${pathFrom(path, LOADING)}")`
  const bundle = text
    .replaceAll(IMPORT, (line, names, name) => {
      if (!isImported(name, path)) return line
      return names === undefined
        ? `${required(name)};`
        : `const ${names.replace('* as ', '').replaceAll(AS, '$1: $2')} = ${required(name)};`
    })
    .replaceAll(DYNAMIC_IMPORT, (line, name, variable) => {
      if (variable !== undefined)
        return `${loading}.load(() => import(${variable}), () => require(${variable}))`
      if (!isImported(name, path)) return line
      return name.startsWith('.')
        ? `Promise.resolve().then(() => ${required(name)})`
        : `${loading}.load(() => import("${name}"), () => ${required(name)})`
    })
    .replace(EXPORT, (_, names) => `module.exports = {${names.replaceAll(AS, '$2: $1')}};`)
    .replaceAll('import.meta.url', 'require("node:url").pathToFileURL(__filename).href')
  return `"use strict";${bundle}`
}

/** True if a bundle imports it: the line can be one of a text, such as of a .proto file. */
function isImported(name, path) {
  const target = name.startsWith('.') ? relative(root, join(dirname(path), name)) : name
  return bundles.get(path).imports.some((one) => one.path === target)
}

/** The ES module of an entry. It hands the ES modules of packages over before it loads the bundle. */
function wrapperOf(bundle, path) {
  const all = bundles.get(bundle).exports
  const names = all.filter((name) => name !== 'default')
  return [
    ...handedOver(bundle).map((name) => `import "${pathFrom(path, handingOver(name))}";`),
    `import all from "${pathFrom(path, bundle)}";`,
    ...(names.length === 0 ? [] : [`export const { ${names.join(', ')} } = all;`]),
    ...(all.includes('default') ? ['export default all.default;'] : []),
    '',
  ].join('\n')
}

/** The packages of two forms that a bundle of the library loads together with others. Commands load what they need. */
function handedOver(bundle) {
  if (bundle.startsWith(join(cjs, 'cli'))) return []
  const names = new Set()
  const seen = new Set([bundle])
  for (const path of seen)
    for (const { path: target, kind, external } of bundles.get(path).imports) {
      if (kind !== 'import-statement') continue
      if (external !== true) seen.add(join(root, target))
      else if (kindOf(target) === 'both') names.add(target)
    }
  return [...names]
}

/** An ES module that hands the one of a package over. */
function handingOver(name) {
  const path = join(dist, 'packages', fileOf(name))
  const lines = [
    `import * as form from "${name}";`,
    `import loading from "${pathFrom(path, LOADING)}";`,
    `loading.forms["${name}"] = { ...form };`,
  ]
  write(path, `${lines.join('\n')}\n`)
  return path
}

/** A file of ours in the place of a package that not every `require` can load as it has to. */
function ownFileFor(name, path) {
  const kind = kindOf(name)
  if (kind === 'CommonJS') return undefined
  const own = join(cjs, 'packages', fileOf(name))
  if (kind === 'both') {
    write(own, `module.exports = require("./loading.cjs").forms["${name}"] ?? require("${name}");\n`)
  } else
    write(
      own,
      `try { module.exports = require("${name}"); } catch { module.exports = require("${inOneFile(name)}"); }\n`,
    )
  return pathFrom(path, own)
}

/** A copy of a package of ES modules, for a `require` that is not Node's and loads none, such as that of Jest. */
function inOneFile(name) {
  const file = `./es-modules/${fileOf(name)}`
  const { outputFiles, metafile } = buildSync({
    stdin: { contents: `export * from "${name}"`, resolveDir: home },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    metafile: true,
    write: false,
  })
  const [{ text }] = outputFiles
  const owners = new Set(
    Object.keys(metafile.inputs).flatMap(
      (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
    ),
  )
  write(join(cjs, 'packages', file), [...owners].map(licenseOf).join('') + text)
  return file
}

/** The license of a package, as a comment. */
function licenseOf(name) {
  const folder = join(home, 'node_modules', name)
  const license = readFileSync(
    join(
      folder,
      readdirSync(folder).find((file) => /^licen[sc]e/i.test(file)),
    ),
    'utf8',
  )
  return `/*\n${name}\n\n${license.trim()}\n*/\n`
}

/** Which forms a package has. */
function kindOf(name) {
  if (/^(node:|\.)/.test(name)) return 'CommonJS'
  const [owner, rest] = name.split('/')
  const folder = join(home, 'node_modules', owner.startsWith('@') ? `${owner}/${rest}` : owner)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (manifest.type !== 'module') return 'CommonJS'
  return JSON.stringify(manifest.exports).includes('"require"') ? 'both' : 'ES modules'
}

function fileOf(name) {
  return `${name.replace('@', '').replace(/\.js$/, '').replaceAll('/', '-')}.js`
}

function pathFrom(from, to) {
  const path = relative(dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
