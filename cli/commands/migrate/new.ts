import { Args, Flags } from '@oclif/core'
import { existsSync } from 'node:fs'
import { type Dialect, DIALECTS } from '../../../lib/migrations/files/dialect-name.js'
import { optionalUrlFlag } from '../../loading/database-url-flag.js'
import { givenEntitiesFlag } from '../../loading/entities.js'
import { databaseFlags, folderFlag, scratchFlag } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-run.js'
import type { DatabaseFlags } from '../../migrate/migrator-of.js'
import type { NextFiles } from '../../migrate/next-files.js'
import { Verb } from '../../verb/verb.js'

export default class New extends Verb {
  static override summary = 'Write the files of the next migration.'
  static override description = `The migration gets the next number in the hand-written sequence. The first number is 0002, because 0001 is the framework's migration. The command writes files for every engine that has a folder, or for both engines if neither has a folder. In a project without files, --dialect postgres writes for PostgreSQL only.

Without --entities the files are empty. With --entities and a connection string, they contain what migrate diff writes: new tables and every change that is safe while older images run, for the connection string's engine. With --entities alone, they create the tables that no file creates yet, with one migration for each table, for both engines.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> add_colour',
    '<%= config.bin %> <%= command.id %> widgets --entities dist/entities.js',
    '<%= config.bin %> <%= command.id %> widgets --entities dist/entities.js --dialect postgres',
  ]
  static override args = {
    name: Args.string({ description: 'A description of the migration, such as add_colour.', required: true }),
  }
  static override flags = {
    entities: givenEntitiesFlag,
    files: folderFlag,
    dialect: Flags.option({
      summary:
        "Write for this engine only. In a folder without engine folders, files run on the database's engine; their SQL is for PostgreSQL by default.",
      options: DIALECTS,
    })(),
    url: optionalUrlFlag,
    module: databaseFlags.module,
    schema: databaseFlags.schema,
    scratch: scratchFlag,
  }

  override async run(): Promise<NextFiles> {
    const { args, flags, metadata } = await this.parse(New)
    const [{ checkDescription, emptyVersion, writeNextFiles }, { runCommandLine }, view] = await Promise.all([
      import('../../migrate/next-files.js'),
      import('../../migrate/run-command-line.js'),
      import('../../migrate/views/new-view.js'),
    ])
    checkDescription(args.name)
    const style = { paint: this.paint, command: runCommandLine(flags) }
    const { entities, url, files, dialect } = flags
    if (entities === undefined) {
      const left = dialect === undefined ? await leftOut(files, url) : undefined
      const written = writeNextFiles(files, dialect, [emptyVersion(args.name)])
      this.say(view.newLines(written, true, style))
      this.note(left === undefined ? [] : [view.leftOutNote(left)])
      return written
    }
    if (url !== undefined) return this.#compared(args.name, { ...flags, entities, url })
    const { entityVersions } = await import('../../migrate/entity-versions.js')
    const { versions, createdBefore, notes } = await entityVersions(
      entities,
      args.name,
      files,
      dialect,
      style.command,
    )
    const isNew = metadata.flags.files?.setFromDefault !== true && !existsSync(files)
    const written =
      versions.length === 0 ? { names: [], files: [] } : writeNextFiles(files, dialect, versions)
    this.say(view.newLines(written, false, style))
    this.note([...(isNew ? [view.newFolderNote(files)] : []), ...createdBefore, ...notes])
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
    const [{ DatabaseRun }, { diffHeading }, { shownChanges, writtenVersions }, { diffLines, leftoverText }] =
      await Promise.all([
        import('../../migrate/database-run.js'),
        import('../../migrate/headings.js'),
        import('../../migrate/schema-versions.js'),
        import('../../migrate/views/diff-view.js'),
      ])
    const how = { ...flags, live: false, contract: false }
    const run = new DatabaseRun(this, { ...flags, mayBegin: true }, { heading: await diffHeading(how) })
    const { compared, notes, written } = await run.change((migrator) =>
      writtenVersions(name, migrator, how, run.command),
    )
    this.say(diffLines({ ...compared, ...written }, how, run.style))
    this.note([...notes, ...compared.leftovers.map(leftoverText)])
    const { left, byHand, leftovers, details } = shownChanges(compared)
    return run.onDatabase({ ...written, left, byHand, leftovers, details })
  }
}

/** Returns the connection string's engine if it has no folder although another engine has one. */
async function leftOut(files: string, url: string | undefined): Promise<Dialect | undefined> {
  if (url === undefined) return undefined
  const [{ dialectIn }, { isLeftOut }] = await Promise.all([
    import('../../migrate/migrator-of.js'),
    import('../../migrate/next-files.js'),
  ])
  const dialect = await dialectIn(url)
  return dialect !== undefined && isLeftOut(files, dialect) ? dialect : undefined
}
