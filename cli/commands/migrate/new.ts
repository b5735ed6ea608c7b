import { Args, Flags } from '@oclif/core'
import { type Dialect, DIALECTS } from '../../../lib/migrations/files/dialect.js'
import { entitiesFlag } from '../../loading/entities.js'
import { folderFlag } from '../../migrate/database-flags.js'
import type { NextFiles } from '../../migrate/next-files.js'
import { Verb } from '../../verb/verb.js'

export default class New extends Verb {
  static override summary = 'Write the files of the next version.'
  static override description = `The number is the next one of the hand-written files; the first is 0002, because 0001 is the framework's own. Files are written for every engine that has a folder, and for both when none has. In a project without files, --dialect postgres writes for PostgreSQL only.

Without --entities the files are empty. With it they create the tables of the entities, one version for each. The indexes and collations in them keep tenants apart, values unique and lists in order. A table that an existing file creates is skipped: migrate diff writes its changes.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> add_colour',
    '<%= config.bin %> <%= command.id %> widgets --entities dist/entities.js',
    '<%= config.bin %> <%= command.id %> widgets --entities dist/entities.js --dialect postgres',
  ]
  static override args = {
    name: Args.string({ description: 'What the version does, such as add_colour.', required: true }),
  }
  static override flags = {
    entities: entitiesFlag,
    files: folderFlag,
    dialect: Flags.option({
      summary: 'Write for this engine only. Files outside of the folder of an engine are for PostgreSQL.',
      options: DIALECTS,
    })(),
  }

  override async run(): Promise<NextFiles> {
    const { args, flags } = await this.parse(New)
    const { checkDescription, emptyVersion, writeNextFiles } = await import('../../migrate/next-files.js')
    checkDescription(args.name)
    const { versions, notes } =
      flags.entities === undefined
        ? { versions: [emptyVersion(args.name)], notes: [] }
        : await this.#versionsOf(args.name, flags.entities, flags.files, flags.dialect)
    const written = writeNextFiles(flags.files, flags.dialect, versions)
    this.say(written.files.map((file) => `${this.paint.good('written')} ${file}`))
    this.note(notes)
    return written
  }

  async #versionsOf(name: string, entities: string, files: string, dialect?: Dialect) {
    const { entityVersions } = await import('../../migrate/entity-versions.js')
    return entityVersions(entities, name, files, dialect)
  }
}
