import { Args, Flags } from '@oclif/core'
import { entitiesFlag } from '../../loading/entities.js'
import { folderFlag } from '../../migrate/database-flags.js'
import type { NextFiles } from '../../migrate/next-files.js'
import { Verb } from '../../verb/verb.js'

export default class New extends Verb {
  static override summary = 'Write the files of the next version.'
  static override description = `The number is the next one of the hand-written files; the first is 0002, because 0001 is the framework's own. Files are for the engines whose folders are there, and for both where neither is; --dialect postgres makes a project that has no files yet one for PostgreSQL alone.

Without --entities the files are empty. With it they create the tables of the entities, a version for each, with the indexes and collations that keep tenants apart, values unique and lists in order. A table that a file creates already is left alone: say its changes in files of their own, migrate verify --entities names them.`
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
      summary: 'Write for this engine alone. Files without a folder of their engine are for PostgreSQL.',
      options: ['postgres', 'mysql'] as const,
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

  async #versionsOf(name: string, entities: string, files: string, dialect?: 'postgres' | 'mysql') {
    const { entityVersions } = await import('../../migrate/entity-versions.js')
    return entityVersions(entities, name, files, dialect)
  }
}
