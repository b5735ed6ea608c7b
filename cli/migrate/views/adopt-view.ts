import type { AdoptableTool, BaselineResult } from '../../../lib/migrations/index.js'
import { counted } from '../../output/counted.js'
import { nextLine, type Style, uncomparedLine } from '../lines/line-style.js'
import { recordedLines } from './baseline-view.js'

/** The findings or the result of `adopt`. */
export type Adoption =
  /** A history that `up` takes over without help, with a description. */
  | { readonly kind: 'byItself'; readonly text: string }
  | { readonly kind: 'recorded'; readonly version: string }
  /** The tool whose schema is dumped next. */
  | { readonly kind: 'found'; readonly tool: AdoptableTool }
  | { readonly kind: 'adopted'; readonly files: readonly string[]; readonly result: BaselineResult }

export function adoptLines(adoption: Adoption, style: Style): readonly string[] {
  switch (adoption.kind) {
    case 'byItself':
      return [`${adoption.text}: there is nothing to adopt`, nextLine(style, { command: 'migrate up' })]
    case 'recorded':
      return [`${adoption.version} is already recorded: nothing to do`]
    case 'found': {
      const { tool, table, head, dump } = adoption.tool
      return [
        `${tool} migrates this schema: its table ${table} lists ${counted(head.count, 'migration')}. Run this line, which dumps the schema without the tables of ${tool}:`,
        `${dump} > schema.sql`,
        nextLine(style, { command: 'migrate adopt', options: { dump: 'schema.sql' } }),
      ]
    }
    case 'adopted':
      return [
        ...adoption.files.map((file) => `${style.paint.good('written')} ${file}`),
        ...recordedLines(adoption.result, style),
        uncomparedLine(style),
      ]
  }
}

/** Returns the message for a database without a known tool's history. */
export const nothingToAdopt = ({ command }: Style): string =>
  `no migration history of a known tool was found in this schema. If the schema is empty, use ${command('migrate new')} and ${command('migrate up')}. If it has tables, write their definitions into 0002 and run ${command('migrate baseline', { to: 2 })}`
