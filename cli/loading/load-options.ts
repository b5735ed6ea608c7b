import type { Interfaces } from '@oclif/core'
import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../lib/files/package-file.js'

/** The programs of the package. `idp` is the `idp` topic of `ashlar` as its own program. */
export type Program = 'ashlar' | 'idp'

/**
 * Returns the options with which oclif starts: the `oclif` key of package.json, with the commands compiled
 * together with this file. `idp` receives only the commands of its topic, so that its help contains `idp up`
 * rather than `ashlar idp up`.
 */
export function loadOptions(program: Program): Interfaces.LoadOptions {
  const root = fileURLToPath(packageFile('.'))
  const [built = ''] = relative(root, fileURLToPath(import.meta.url)).split(sep)
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Interfaces.PJSON
  const { oclif } = manifest
  const topics = oclif.topics as Readonly<Record<string, TopicSettings>>
  const pjson = {
    ...manifest,
    oclif: {
      ...oclif,
      helpClass: { identifier: 'ExampledHelp', target: `./${built}/cli/help/help.js` },
      commands: `./${built}/cli/commands`,
      ...(program === 'idp' && {
        bin: 'idp',
        commands: `./${built}/cli/commands/idp`,
        description: topics.idp?.description ?? '',
        topics: topics.idp?.subtopics ?? {},
      }),
    },
  }
  return { root, pjson, devPlugins: false, userPlugins: false }
}

interface TopicSettings {
  readonly description: string
  readonly subtopics?: Readonly<Record<string, TopicSettings>>
}
