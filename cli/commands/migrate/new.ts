import { Args, Flags } from '@oclif/core'
import { existsSync } from 'node:fs'
import { type Dialect, DIALECTS } from '../../../lib/migrations/files/dialect.js'
import { optionalUrlFlag } from '../../loading/database-url-flag.js'
import { entitiesFlag } from '../../loading/entities.js'
import { databaseFlags, folderFlag, scratchFlag } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-verb.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'
import { nextLine } from '../../migrate/lines/next-line.js'
import type { DatabaseFlags } from '../../migrate/migrator-of.js'
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
      summary:
        'Write for this engine only. In a folder without the folders of engines, files run on the engine of the database; their SQL is for PostgreSQL by default.',
      options: DIALECTS,
    })(),
    url: optionalUrlFlag,
    module: databaseFlags.module,
    schema: databaseFlags.schema,
    scratch: scratchFlag,
  }

  override async run(): Promise<NextFiles> {
    const { args, flags, metadata } = await this.parse(New)
    const { checkDescription, emptyVersion, writeNextFiles } = await import('../../migrate/next-files.js')
    checkDescription(args.name)
    if (flags.entities === undefined) {
      const left = flags.dialect === undefined ? await this.#leftOut(flags) : undefined
      const written = writeNextFiles(flags.files, flags.dialect, [emptyVersion(args.name)])
      this.#told(written, flags)
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
    const isNew = metadata.flags.files?.setFromDefault !== true && !existsSync(flags.files)
    const written =
      versions.length === 0 ? { names: [], files: [] } : writeNextFiles(flags.files, flags.dialect, versions)
    this.#told(written, flags)
    this.note([...(isNew ? [`${flags.files} is a new folder: in it, every table is new`] : []), ...notes])
    return written
  }

  async #compared(
    name: string,
    flags: DatabaseFlags & {
      readonly entities: string
      readonly dialect?: string | undefined
      readonly scratch?: string | undefined
    },
  ): Promise<NextFiles & OnDatabase> {
    const [{ diffLines }, { diffHeading }, { leftoverText, schemaVersions, writeVersions }] =
      await Promise.all([
        import('../../migrate/lines/diff-lines.js'),
        import('../../migrate/headings.js'),
        import('../../migrate/schema-versions.js'),
      ])
    const how = { ...flags, live: false, contract: false }
    this.heading = await diffHeading(how)
    const compared = await this.migrating({ ...flags, mayBegin: true }, (migrator) =>
      schemaVersions(name, migrator, how),
    )
    const { left, byHand, leftovers } = compared
    const { notes, ...written } = writeVersions(compared, flags)
    this.say(diffLines({ ...written, fill: [], left, byHand }, how, this.paint))
    this.note([...notes, ...leftovers.map((database) => leftoverText(database))])
    return this.onDatabase({ ...written, left, byHand, leftovers })
  }

  /** The engine of the connection string, where it has no folder and another one has. */
  async #leftOut(flags: {
    readonly files: string
    readonly url?: string | undefined
  }): Promise<Dialect | undefined> {
    if (flags.url === undefined) return undefined
    const [{ dialectIn }, { isLeftOut }] = await Promise.all([
      import('../../migrate/migrator-of.js'),
      import('../../migrate/next-files.js'),
    ])
    const dialect = await dialectIn(flags.url)
    return dialect !== undefined && isLeftOut(flags.files, dialect) ? dialect : undefined
  }

  #told({ files }: NextFiles, flags: { readonly entities?: string | undefined }): void {
    const isEmpty = flags.entities === undefined
    const next = isEmpty ? nextLine(['lint'], 'once the files have their SQL') : nextLine(['plan'])
    this.say(
      files.length === 0
        ? [
            'nothing is written: the files create every table of the entities; with a connection string, their changes are written',
          ]
        : [...files.map((file) => `${this.paint.good('written')} ${file}`), next],
    )
  }
}
