import { Flags } from '@oclif/core'
import { DIALECTS } from '../../../lib/migrations/files/dialect-name.js'
import { optionalUrlFlag } from '../../loading/database-url-flag.js'
import { databaseFlags, scratchFlag } from '../../migrate/database-flags.js'
import type { NotApplied } from '../../migrate/on-empty-copy.js'
import type { FolderFinding } from '../../migrate/lint-folder.js'
import { Verb } from '../../verb/verb.js'

export default class Lint extends Verb {
  static override summary = 'Report statements that block or break running clients of the database.'
  static override description = `No database is needed. With --url or --scratch the files are also applied to an empty copy of the schema, and the first statement that fails there is rejected. The copy is a scratch database on the server of --url, which is dropped afterwards, or the database of --scratch; the database of --url itself is not changed. If the user may not create a copy, a note reports it.

Statements that the engine cannot run are rejected. Statements that lock a table for a long time, break running code or cannot be recovered are dangerous. Advice covers statements that work today but can cause problems later. A comment "-- ashlar:allow RULE" in a file accepts a danger or advice.

Exits with 1 if a statement is rejected or dangerous.`
  static override differs =
    'A statement is rejected or dangerous. With --strict: any finding, or a copy that could not be created.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --files ./migrations/mysql --dialect mysql --strict',
    '<%= config.bin %> <%= command.id %> --url postgres://localhost/shop',
  ]
  static override flags = {
    ...databaseFlags,
    url: optionalUrlFlag,
    scratch: scratchFlag,
    dialect: Flags.option({
      summary: 'The engine. Default: every engine with a folder, otherwise PostgreSQL.',
      options: DIALECTS,
    })(),
    strict: Flags.boolean({
      summary:
        'Also exit with 1 on advice, except on advice about the files of search generate, which are not edited.',
    }),
  }

  override async run(): Promise<readonly (FolderFinding | NotApplied)[]> {
    const { flags } = await this.parse(Lint)
    const [
      { onEmptyCopy },
      { lintFolder },
      { emptyFolder, emptyText },
      { runCommandLine },
      { isOfGenerated, lintLines },
    ] = await Promise.all([
      import('../../migrate/on-empty-copy.js'),
      import('../../migrate/lint-folder.js'),
      import('../../migrate/next-files.js'),
      import('../../migrate/run-command-line.js'),
      import('../../migrate/views/lint-view.js'),
    ])
    const linted = await lintFolder(flags.files, flags.dialect, { command: runCommandLine(flags) })
    const dialects = flags.dialect === undefined ? DIALECTS : [flags.dialect]
    const empty = new Set(dialects.flatMap((one) => emptyFolder(flags.files, one) ?? []))
    const { failing, notApplied } = await onEmptyCopy(this, flags, linted)
    const findings = [...linted, ...failing]
    this.note([...[...empty].map(emptyText), ...notApplied.map(({ file, text }) => `${file}: ${text}`)])
    this.say(lintLines(findings, this))
    const isFault = (finding: FolderFinding) =>
      finding.level !== 'advice' || (flags.strict && !isOfGenerated(finding))
    const isUnknown = flags.strict && notApplied.some(({ why }) => why.kind === 'noDatabase')
    if (findings.some(isFault) || isUnknown) this.endWith('differs')
    return [...findings, ...notApplied]
  }
}
