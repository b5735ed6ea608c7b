import { Args, Flags } from '@oclif/core'
import { DIALECTS } from '../../../lib/migrations/files/dialect.js'
import { folderFlag } from '../../migrate/database-flags.js'
import type { Renumbered } from '../../migrate/renumber.js'
import { namesText } from '../../migrate/lines/names-text.js'
import { MigrateVerb } from '../../migrate/migrate-verb.js'

export default class Renumber extends MigrateVerb {
  static override summary = 'Give versions the numbers behind all others.'
  static override description = `For two branches that took the same number: name every version of the branch that is merged last, in its order. Their files get the numbers behind those of all other hand-written versions, in the folder of each engine. No database is needed.

A database that has applied one of them under its old number, such as your own, has to roll it back before.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> 0005_add_colour',
    '<%= config.bin %> <%= command.id %> 0005_add_colour 0006_fill_colour',
  ]
  static override strict = false
  static override args = {
    names: Args.string({ description: 'The versions, such as 0005_add_colour.', required: true }),
  }
  static override flags = {
    files: folderFlag,
    dialect: Flags.option({ summary: 'Only the files of this engine.', options: DIALECTS })(),
  }

  override async run(): Promise<readonly Renumbered[]> {
    const { argv, flags } = await this.parse(Renumber)
    const [{ nextLine }, { renumber }] = await Promise.all([
      import('../../migrate/lines/next-line.js'),
      import('../../migrate/renumber.js'),
    ])
    const renumbered = renumber(flags.files, flags.dialect, argv.map(String))
    if (renumbered.length === 0) this.say(['nothing to do: they have the last numbers already'])
    else {
      this.say(
        renumbered.map(
          ({ folder, from, to }) => `${this.paint.good('renumbered')} ${folder}/${from} to ${to}`,
        ),
      )
      this.note(orderLines(renumbered))
      this.say([nextLine(['lint'])])
    }
    return renumbered
  }
}

/** What another order means for databases that have the versions. */
function orderLines(renumbered: readonly Renumbered[]): readonly string[] {
  const names = [...new Set(renumbered.map(({ from }) => from))]
  const before = Math.min(...names.map((name) => Number(name.slice(0, 4)))) - 1
  const [run, them, they] = names.length === 1 ? ['runs', 'it', 'it'] : ['run', 'them', 'they']
  return [
    `the order of the versions is another now: ${namesText([...new Set(renumbered.map(({ to }) => to))])} ${run} behind all other versions of yours`,
    ...overtakenLines(renumbered),
    `a database that has applied ${them} under the old number, perhaps your own (ashlar migrate status shows its versions), refuses these files: there, with the files of the branch as it was before the merge, ashlar migrate down --to ${before} takes back what ${they} made`,
  ]
}

/** A branch of which not all versions were named has them in the wrong order now. */
function overtakenLines(renumbered: readonly Renumbered[]): readonly string[] {
  const folders = [...new Set(renumbered.map(({ folder }) => folder))]
  const lines = folders.flatMap((folder) => {
    const moved = renumbered.filter((one) => one.folder === folder)
    const names = [...new Set(moved.flatMap(({ overtaken }) => overtaken))].sort()
    if (names.length === 0) return []
    const to = moved.map((one) => one.to)
    const [run, those] = names.length === 1 ? ['runs', 'it is'] : ['run', 'some are']
    return [
      `${namesText(names)} ${run} before ${namesText(to)} now: where ${those} of the same branch, ashlar migrate renumber ${[...to, ...names].join(' ')} puts ${names.length === 1 ? 'it' : 'them'} behind again; leave out what is of the other branch`,
    ]
  })
  return [...new Set(lines)]
}
