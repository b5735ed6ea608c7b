import { Flags } from '@oclif/core'
import { DIALECTS } from '../../../lib/migrations/files/dialect-name.js'
import { filesFlag } from '../../migrate/database-flags.js'
import type { FolderFinding } from '../../migrate/lint-folder.js'
import { Verb } from '../../verb/verb.js'

export default class Lint extends Verb {
  static override summary = 'Report statements that block or break running clients of the database.'
  static override description = `No database is needed. Statements that the engine cannot run are refused. Statements that lock a table for long, break running code or cannot be recovered are dangerous. Advice is about statements that work today and cause trouble later. A comment "-- ashlar:allow RULE" in a file accepts a danger or advice.

Exits with 1 when a statement is refused or dangerous.`
  static override differs = 'A statement is refused or dangerous; with --strict, any finding.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --files ./migrations/mysql --dialect mysql --strict',
  ]
  static override flags = {
    files: filesFlag,
    dialect: Flags.option({
      summary: 'The engine. Default: every engine with a folder, else PostgreSQL.',
      options: DIALECTS,
    })(),
    strict: Flags.boolean({
      summary: 'Exit with 1 on advice, too, except about files of search generate, which are not edited.',
    }),
  }

  override async run(): Promise<readonly FolderFinding[]> {
    const { flags } = await this.parse(Lint)
    const [{ lintFolder }, { emptyFolder, emptyText }, { runCommandLine }, { isOfGenerated, lintLines }] =
      await Promise.all([
        import('../../migrate/lint-folder.js'),
        import('../../migrate/next-files.js'),
        import('../../migrate/run-command-line.js'),
        import('../../migrate/views/lint-view.js'),
      ])
    const findings = await lintFolder(flags.files, flags.dialect, { command: runCommandLine(flags) })
    const dialects = flags.dialect === undefined ? DIALECTS : [flags.dialect]
    const empty = new Set(dialects.flatMap((one) => emptyFolder(flags.files, one) ?? []))
    this.note([...empty].map(emptyText))
    this.say(lintLines(findings, this))
    const isFault = (finding: FolderFinding) =>
      finding.level !== 'advice' || (flags.strict && !isOfGenerated(finding))
    if (findings.some(isFault)) this.endWith('differs')
    return findings
  }
}
