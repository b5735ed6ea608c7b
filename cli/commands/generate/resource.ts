import { Args, Flags } from '@oclif/core'
import { join } from 'node:path'
import type { GeneratedResource } from '../../generate/generate-resource.js'
import { MigratingVerb } from '../../migrate/migrating-verb.js'

/** What was written, with the files of the migration. */
interface Generated extends GeneratedResource {
  readonly migrations: readonly string[]
}

export default class Resource extends MigratingVerb {
  static override summary = 'Write a resource, or add fields to one.'
  static override description = `Run it in the folder of a project of ashlar new. For a new resource it writes the .proto with the standard methods, the entity, its registration in the server, a test that proves that tenants stay apart, and the migration where the project has migrations.

For a resource that is there it adds the fields that are new, and the new values of enums, to .proto, entity and test. Everything else in the files stays, comments too. A field keeps its number, and a removed one leaves its number and its name reserved. The migration is then written by comparing, which needs the server of ASHLAR_DATABASE_URL; without that variable a note says what to run.

A field is name:type, name:type! where a client has to send it, and name:type? where it may be absent. Types: string, text (without a limit), string[], int32, uint32, int64, double, float, bool, bytes, timestamp, duration, and enum(OPEN,DONE). A timestamp and a duration need ! or ?. Numbers and bools take no !, because 0 and false are values.

A reference to another resource is a string with its key: declare branch_id:string!, and add @ManyToOne to the entity, as the guide Relations says. The generated test then fails until its sample has the key of a branch that the test creates.`
  static override examples = [
    "<%= config.bin %> <%= command.id %> Task --parent Project --fields 'title:string! due:timestamp? state:enum(OPEN,DONE)'",
    "<%= config.bin %> <%= command.id %> Task --fields 'size:int32'",
    '<%= config.bin %> <%= command.id %> Task --remove size',
  ]
  static override args = {
    name: Args.string({ description: 'The resource, such as Task or LineItem.', required: true }),
  }
  static override flags = {
    fields: Flags.string({ summary: 'The fields, separated by spaces.', helpValue: '<fields>', default: '' }),
    parent: Flags.string({ summary: 'The resource that it is in, such as Project.', helpValue: '<name>' }),
    remove: Flags.string({
      summary: 'A field to remove. May be repeated.',
      helpValue: '<field>',
      multiple: true,
      multipleNonGreedy: true,
      default: [],
    }),
    plural: Flags.string({
      summary: 'The plural, such as People, where it is not formed by rule.',
      helpValue: '<name>',
    }),
    package: Flags.string({
      summary: 'The protobuf package of a new resource, where the project has several.',
      helpValue: '<package>',
    }),
  }

  override async run(): Promise<Generated> {
    const { args, flags } = await this.parse(Resource)
    const { generateResource, hasMigrations } = await import('../../generate/generate-resource.js')
    const folder = process.cwd()
    const made = await generateResource({ ...flags, folder, name: args.name })
    this.say(
      made.written.map(({ path, isNew }) => `${this.paint.good(isNew ? 'written' : 'changed')} ${path}`),
    )
    if (made.written.length === 0) this.say(['nothing to add: the resource has these fields'])
    this.note(made.notes)
    const migrations =
      made.written.length > 0 && hasMigrations(folder) ? await this.#migrate(folder, args.name, made) : []
    this.say(migrations.map((file) => `${this.paint.good('written')} ${file}`))
    return { ...made, migrations }
  }

  async #migrate(folder: string, name: string, made: GeneratedResource): Promise<readonly string[]> {
    const [{ compiledEntities }, { snakeOf }, { writeNextFiles }] = await Promise.all([
      import('../../generate/generate-resource.js'),
      import('../../generate/words.js'),
      import('../../migrate/next-files.js'),
    ])
    const entities = await compiledEntities(folder)
    const files = 'migrations'
    if (made.isNew) {
      const { entityVersions } = await import('../../migrate/entity-versions.js')
      const { versions, notes } = await entityVersions(entities, snakeOf(name), files, undefined)
      this.note(notes.filter((note) => !note.includes(' is created by ')))
      const [version, ...others] = versions
      // Other tables without a migration are told apart by their names.
      const named =
        version === undefined || others.length > 0 ? versions : [{ ...version, description: snakeOf(name) }]
      return writeNextFiles(files, undefined, named).files
    }
    const words = [...made.addedFields, ...made.removedFields]
    if (words.length === 0) return []
    const description = `${snakeOf(name)}_${words.join('_')}`.slice(0, 60).replace(/_$/, '')
    const url = process.env.ASHLAR_DATABASE_URL
    if (url === undefined || url === '') {
      this.note([
        `the migration is not written, because ASHLAR_DATABASE_URL is not set. Set it, then run npm run build && npx ashlar migrate diff ${description} --entities ${join('dist', 'src', 'entities.js')}`,
      ])
      return []
    }
    const [{ diffHeading }, { schemaVersions }] = await Promise.all([
      import('../../migrate/headings.js'),
      import('../../migrate/schema-versions.js'),
    ])
    this.heading = await diffHeading({ files, entities, live: false })
    const { dialect, versions, left, byHand } = await this.migrating(
      { url, files, mayBegin: true },
      (migrator) => schemaVersions(description, migrator, { entities, files, live: false, contract: false }),
    )
    this.note([...left, ...byHand])
    return versions.length === 0 ? [] : writeNextFiles(files, dialect, versions).files
  }
}
