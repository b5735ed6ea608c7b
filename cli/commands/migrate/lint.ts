import { Flags } from '@oclif/core'
import { filesFlag } from '../../migrate/database-flags.js'
import type { FolderFinding } from '../../migrate/lint-folder.js'
import { Verb } from '../../verb/verb.js'

export default class Lint extends Verb {
  static override summary = 'Say which statements block or break what runs against the database.'
  static override description = `No database is needed. What the engine cannot run is refused; what locks a table for long, fails code that still runs or cannot be recovered from is dangerous; advice is what works today and hurts later. A comment "-- ashlar:allow RULE" in a file says that a danger or advice is known and meant.

Exits with 1 when something is refused or dangerous.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --files ./migrations/mysql --dialect mysql --strict',
  ]
  static override flags = {
    files: filesFlag,
    dialect: Flags.option({
      summary: 'The engine; when it is not said, each whose folder is there, or PostgreSQL.',
      options: ['postgres', 'mysql'] as const,
    })(),
    strict: Flags.boolean({ summary: 'Exit with 1 on advice, too.' }),
  }

  override async run(): Promise<readonly FolderFinding[]> {
    const { flags } = await this.parse(Lint)
    const [{ lintFolder }, { findingLines }] = await Promise.all([
      import('../../migrate/lint-folder.js'),
      import('../../migrate/finding-lines.js'),
    ])
    const findings = await lintFolder(flags.files, flags.dialect)
    this.say(findingLines(findings, this.paint))
    if (findings.some(({ level }) => flags.strict || level !== 'advice')) this.endWith('differs')
    return findings
  }
}
