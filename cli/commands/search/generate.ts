import { Flags } from '@oclif/core'
import { requiredEntitiesFlag } from '../../loading/entities.js'
import { pathFlag } from '../../loading/path-flag.js'
import type { Generated } from '../../search/generate-search.js'
import { Verb } from '../../verb/verb.js'

export default class Generate extends Verb {
  static override summary = 'Write the migrations that INDEXED search needs on PostgreSQL.'
  static override description = `For each entity with @Searchable({ strategy: 'INDEXED' }) it writes two files, numbered from 9001: one adds the search_vector column, the other adds its GIN index. Tables are sorted by name.

A table whose vector is already committed keeps its files. A changed vector uses the next free pair of numbers, so an applied file is never edited. The same entities and the same committed files produce the same bytes.

If a search is no longer INDEXED, nothing is removed from the database: migrate diff --contract writes the file that drops its vector.`
  static override differs = '--check: a file is missing or differs.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --entities dist/entities.js --out migrations/postgres --migrations migrations/postgres',
    '<%= config.bin %> <%= command.id %> --entities dist/entities.js --out generated --migrations migrations/postgres --check',
  ]
  static override flags = {
    entities: requiredEntitiesFlag,
    out: pathFlag({
      summary: 'The folder for the files; it is created if it does not exist.',
      required: true,
    }),
    migrations: pathFlag({
      summary: 'The folder of the committed migrations for PostgreSQL.',
      description: 'The command only reads it: its files show which numbers are used, and by which vectors.',
      required: true,
    }),
    check: Flags.boolean({ summary: 'Write nothing; exit with 1 if a file is missing or differs.' }),
  }

  override async run(): Promise<Generated> {
    const { flags } = await this.parse(Generate)
    const [{ generateSearch }, { generatedLines }, { differs }] = await Promise.all([
      import('../../search/generate-search.js'),
      import('../../search/change-lines.js'),
      import('../../search/file-changes.js'),
    ])
    const { entities, out, migrations, check } = flags
    const options = { entities, out, migrations, check }
    const generated = await generateSearch(options)
    this.say(generatedLines(generated, options, this.paint))
    if (check && differs(generated)) this.endWith('differs')
    return generated
  }
}
