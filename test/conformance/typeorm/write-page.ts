import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format } from 'prettier'
import { root } from '../../support/root.js'
import { page } from './page.js'

/** Writes the page about TypeORM. With `--check` it writes nothing and exits with 1 if it is out of date. */
const NAME = 'docs/reference/typeorm.md'
const path = join(root, NAME)
const current = existsSync(path) ? readFileSync(path, 'utf8') : ''
const { prettier } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { prettier: object }
const made = await format(page(), { ...prettier, parser: 'markdown' })
if (current !== made) {
  if (process.argv.includes('--check')) {
    process.stderr.write(`${NAME} is out of date: run node dist/test/conformance/typeorm/write-page.js\n`)
    process.exitCode = 1
  } else writeFileSync(path, made)
}
