import { Config, settings } from '@oclif/core'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { packageFile } from '../../lib/files/package-file.js'
import { loadOptions } from '../loading/load-options.js'
import { referencePage } from './reference-page.js'

/**
 * Writes docs/reference/cli.md. With `--check` it writes nothing and exits with 1 if the page is out of date.
 */
const page = packageFile('docs/reference/cli.md')
settings.enableAutoTranspile = false
const made = referencePage(await Config.load(loadOptions('ashlar')))
const current = existsSync(page) ? readFileSync(page, 'utf8') : ''
if (process.argv.includes('--check')) {
  if (current !== made) {
    process.stderr.write('docs/reference/cli.md is out of date: run node dist/cli/help/reference.js\n')
    process.exitCode = 1
  }
} else if (current !== made) {
  writeFileSync(page, made)
}
