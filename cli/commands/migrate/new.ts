import { Args, Flags } from '@oclif/core'
import { DIALECTS } from '../../../lib/migrations/files/dialect.js'
import { optionalUrlFlag } from '../../loading/database-url-flag.js'
import { entitiesFlag } from '../../loading/entities.js'
import { databaseFlags, folderFlag, scratchFlag } from '../../migrate/database-flags.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'
import type { NextFiles } from '../../migrate/next-files.js'

export default class New extends MigratingVerb {
  static override summary = 'Write the files of the next version.'
  static override description = `The number is the next one of the hand-written files; the first is 0002, because 0001 is the framework's own. Files are written for every engine that has a folder, and for both when none has. In a project without files, --dialect postgres writes for PostgreSQL only.

Without --entities the files are empty. With it and a connection string, they are what migrate diff writes: new tables and every change that is safe while older images run, for the engine of the connection string. With --entities alone they create the tables that no file creates yet, one version for each and for both engines.`
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
    url: optionalUrlFlag,
    module: databaseFlags.module,
    schema: databaseFlags.schema,
    scratch: scratchFlag,
  }

  override async run(): Promise<NextFiles> {
    const { args, flags } = await this.parse(New)
    const { checkDescription, emptyVersion, leftOut, writeNextFiles } =
      await import('../../migrate/next-files.js')
    checkDescription(args.name)
    if (flags.entities === undefined) {
      const left = leftOut(flags)
      const written = this.#told(writeNextFiles(flags.files, flags.dialect, [emptyVersion(args.name)]))
      if (left !== undefined)
        this.note([
          `nothing is written for ${left}, the engine of the connection string: --dialect ${left} begins its folder`,
        ])
      return written
    }
    const { entities, url } = flags
    if (url !== undefined) return this.#compared(args.name, { ...flags, entities, url })
    const { entityVersions } = await import('../../migrate/entity-versions.js')
    const { versions, notes } = await entityVersions(entities, args.name, flags.files, flags.dialect)
    const written = this.#told(writeNextFiles(flags.files, flags.dialect, versions))
    this.note(notes)
    return written
  }

  async #compared(
    name: string,
    flags: {
      readonly url: string
      readonly entities: string
      readonly files: string
      readonly dialect?: string | undefined
      readonly scratch?: string | undefined
    },
  ): Promise<NextFiles> {
    const { newVersions } = await import('../../migrate/schema-versions.js')
    const { written, notes } = await this.migrating({ ...flags, mayBegin: true }, (migrator) =>
      newVersions(name, migrator, flags),
    )
    this.#told(written)
    this.note(notes)
    return this.onDatabase(written)
  }

  #told(written: NextFiles): NextFiles {
    this.say(written.files.map((file) => `${this.paint.good('written')} ${file}`))
    return written
  }
}
