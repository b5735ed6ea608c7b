// Writes the CommonJS form of the generated code of ashlar-annotations to packages/annotations/dist.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { transformSync } from 'esbuild'

const annotations = join(import.meta.dirname, '../packages/annotations')
/** The copyright and license comments at the beginning of a file. */
const HEAD = /^(?:\/\/.*\n|\/\*.*\*\/\n|\n)*/

const from = join(annotations, 'gen')
const to = join(annotations, 'dist')
rmSync(to, { recursive: true, force: true })
for (const path of readdirSync(from, { recursive: true })) {
  if (!/\.(js|d\.ts)$/.test(path)) continue
  mkdirSync(dirname(join(to, path)), { recursive: true })
  if (path.endsWith('.d.ts')) copyFileSync(join(from, path), join(to, path))
  else writeFileSync(join(to, path), inCommonJs(readFileSync(join(from, path), 'utf8')))
}
writeFileSync(join(to, 'package.json'), '{ "type": "commonjs" }\n')

function inCommonJs(text) {
  const [head] = HEAD.exec(text)
  return `${head}${transformSync(text, { format: 'cjs', platform: 'node', target: 'node20' }).code}`
}
