import { Args, Flags } from '@oclif/core'
import { join } from 'node:path'
import { commandLine } from '../../../lib/text/command-line.js'
import type { GeneratedResource, ResourceRequest } from '../../generate/generate-resource.js'
import { Verb } from '../../verb/verb.js'

/**
 * The written files, including the migration. Several resources are in `resources`; a single one is the
 * result itself.
 */
type Generated = (GeneratedResource | { readonly resources: readonly GeneratedResource[] }) & {
  readonly migrations: readonly string[]
}

type ResourceRequestFlags = Omit<ResourceRequest, 'name'>

export default class Resource extends Verb {
  static override summary = 'Write resources, or add fields to them.'
  static override description = `Run the command in the folder of a project that ashlar new wrote. For a new resource it writes:

- the .proto with the standard methods
- the entity
- the resource's registration in the server
- a tenant isolation test
- a migration, if the project has migrations

For an existing resource it adds new fields and enum values to the .proto, the entity and the test. Everything else in the files is unchanged, including comments. Each field keeps its number, and the number and name of a removed field become reserved. To write the migration, the command compares tables on the server of ASHLAR_DATABASE_URL. Without that variable, a note contains the command to run.

One command can write several resources, a parent before its children: write each as Name, Parent/Name, or with its fields as 'Parent/Name(field:type …)'. The code is generated once for all of them. If one resource cannot be written, the command writes none.

A field is name:type, name:type! if a client must send it, or name:type? if it may be absent. Types: string, text (no length limit), string[], int32, uint32, int64, double, float, bool, bytes, timestamp, duration, and enum(OPEN,DONE). Timestamps and durations require ! or ?. Numbers and bools do not accept !, because 0 and false are values.

The key is a string, unless id:type sets its type: uuid, int32, int64, or int32(generated) and int64(generated) for a number that the database generates. The type is set when the resource is written, and cannot change.

A reference to another resource is a string that contains its key: declare branch_id:string!, and add @ManyToOne to the entity, as the Relations guide describes. The generated test then fails until its sample contains the key of a branch that the test creates.`
  static override examples = [
    "<%= config.bin %> <%= command.id %> Task --parent Project --fields 'title:string! due:timestamp? state:enum(OPEN,DONE)'",
    "<%= config.bin %> <%= command.id %> Task --fields 'size:int32'",
    "<%= config.bin %> <%= command.id %> Ticket --fields 'id:int64(generated) title:string!'",
    '<%= config.bin %> <%= command.id %> Task --remove size',
    "<%= config.bin %> <%= command.id %> 'Customer(title:string!)' 'Customer/Invoice(total:int64 due:timestamp?)'",
  ]
  static override strict = false
  static override args = {
    names: Args.string({
      description: "The resources, such as Task or 'Project/Task(title:string!)'.",
      required: true,
    }),
  }
  static override flags = {
    fields: Flags.string({ summary: 'The fields, separated by spaces.', helpValue: '<fields>', default: '' }),
    parent: Flags.string({ summary: 'The parent resource, such as Project.', helpValue: '<name>' }),
    remove: Flags.string({
      summary: 'A field to remove. May be repeated.',
      helpValue: '<field>',
      multiple: true,
      multipleNonGreedy: true,
      default: [],
    }),
    plural: Flags.string({
      summary: 'The plural, such as People, if it is irregular.',
      helpValue: '<name>',
    }),
    package: Flags.string({
      summary: 'The protobuf package of a new resource, if the project has several.',
      helpValue: '<package>',
    }),
  }

  override async run(): Promise<Generated> {
    const { argv, flags } = await this.parse(Resource)
    const { generateResources, hasMigrations } = await import('../../generate/generate-resource.js')
    const folder = process.cwd()
    const resources = await generateResources(folder, await this.#requests(argv.map(String), flags))
    for (const { written } of resources)
      this.say(written.map(({ path, isNew }) => `${this.paint.good(isNew ? 'written' : 'changed')} ${path}`))
    const changed = resources.filter(({ written }) => written.length > 0)
    for (const { name } of resources.filter((one) => !changed.includes(one)))
      this.say([`nothing to add: ${resources.length === 1 ? 'the resource' : name} has these fields`])
    this.note(resources.flatMap(({ notes }) => notes))
    const migrations = changed.length > 0 && hasMigrations() ? await this.#migrate(folder, changed) : []
    this.say(migrations.map((file) => `${this.paint.good('written')} ${file}`))
    const [only] = resources
    return only !== undefined && resources.length === 1 ? { ...only, migrations } : { resources, migrations }
  }

  /**
   * Returns a request for each resource.
   * @throws Failure if several resources have a flag other than `--package`, or if a resource has its parent
   *   or fields both in the text and in a flag.
   */
  async #requests(
    texts: readonly string[],
    flags: ResourceRequestFlags,
  ): Promise<readonly ResourceRequest[]> {
    const [{ parseResource }, { Failure }] = await Promise.all([
      import('../../generate/resource-spec.js'),
      import('../../errors/failure.js'),
    ])
    const refused = (flag: string, why: string) => new Failure('input', `--${flag}: ${why}`)
    return texts.map((text) => {
      const { name, parent, fields } = parseResource(text)
      if (texts.length > 1)
        for (const [flag, value] of Object.entries({ ...flags, package: undefined }))
          if (value !== undefined && value.length > 0)
            throw refused(
              flag,
              `it applies to one resource; for several, write each as 'Parent/Name(field:type …)'`,
            )
      for (const [flag, value, other] of [
        ['parent', flags.parent, parent],
        ['fields', flags.fields === '' ? undefined : flags.fields, fields],
      ] as const)
        if (value !== undefined && other !== undefined)
          throw refused(flag, `${text} already has its ${flag}: leave one of them out`)
      return { ...flags, name, parent: parent ?? flags.parent, fields: fields ?? flags.fields }
    })
  }

  async #migrate(folder: string, changed: readonly GeneratedResource[]): Promise<readonly string[]> {
    const [{ compiledEntities, migrationsFolder }, { snakeOf }, { writeNextFiles }] = await Promise.all([
      import('../../generate/generate-resource.js'),
      import('../../generate/words.js'),
      import('../../migrate/next-files.js'),
    ])
    const entities = await compiledEntities(folder)
    const files = migrationsFolder()
    const created = changed.filter(({ isNew }) => isNew).map(({ name }) => snakeOf(name))
    const written: string[] = []
    if (created.length > 0) {
      const { entityVersions } = await import('../../migrate/entity-versions.js')
      const [first = ''] = created
      const { versions, notes } = await entityVersions(entities, 'create', files, undefined, commandLine)
      this.note(notes)
      const [version, ...others] = versions
      // Other tables without a migration also need files, which have the tables' names.
      const named =
        version === undefined || others.length > 0 ? versions : [{ ...version, description: first }]
      written.push(...writeNextFiles(files, undefined, named).files)
    }
    return [
      ...written,
      ...(await this.#alter(
        entities,
        files,
        changed.filter(({ isNew }) => !isNew),
      )),
    ]
  }

  async #alter(
    entities: string,
    files: string,
    changed: readonly GeneratedResource[],
  ): Promise<readonly string[]> {
    const [{ snakeOf }, { writeNextFiles }] = await Promise.all([
      import('../../generate/words.js'),
      import('../../migrate/next-files.js'),
    ])
    const words = changed.flatMap(({ name, addedFields, removedFields }) =>
      addedFields.length + removedFields.length === 0
        ? []
        : [snakeOf(name), ...addedFields, ...removedFields],
    )
    if (words.length === 0) return []
    const description = words.join('_').slice(0, 60).replace(/_$/, '')
    const url = process.env.ASHLAR_DATABASE_URL
    if (url === undefined || url === '') {
      this.note([
        `the migration is not written, because ASHLAR_DATABASE_URL is not set. Set it, then run npm run build && npx ashlar migrate diff ${description} --entities ${join('dist', 'src', 'entities.js')}`,
      ])
      return []
    }
    const [{ DatabaseRun }, { diffHeading }, { schemaVersions, shownChanges }] = await Promise.all([
      import('../../migrate/database-run.js'),
      import('../../migrate/headings.js'),
      import('../../migrate/schema-versions.js'),
    ])
    const how = { entities, files, live: false, contract: false }
    const run = new DatabaseRun(this, { url, files, mayBegin: true }, { heading: await diffHeading(how) })
    const compared = await run.change((migrator) => schemaVersions(description, migrator, how, run.command))
    const { dialect, versions } = compared
    const { left, byHand } = shownChanges(compared)
    this.note([...left, ...byHand])
    return versions.length === 0 ? [] : writeNextFiles(files, dialect, versions).files
  }
}
