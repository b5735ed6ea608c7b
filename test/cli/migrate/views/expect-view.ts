import type { Style } from '../../../../cli/migrate/lines/line-style.js'
import { runCommandLine } from '../../../../cli/migrate/run-command-line.js'
import { paintFor } from '../../../../cli/output/paint.js'
import { expectGolden } from '../../../support/golden.js'

/** Of a command with the flag `--files older`, which every command line of a view has to keep. */
export const STYLE: Style = { paint: paintFor({}), command: runCommandLine({ files: 'older' }) }

/**
 * Compares what a view prints of each kind with its golden file, which is the only place that has its
 * sentences.
 */
export const expectView = (command: string, kinds: Readonly<Record<string, readonly string[]>>): void =>
  expectGolden(
    `cli/views/migrate-${command}.txt`,
    `${Object.entries(kinds)
      .map(([kind, lines]) => [`# ${kind}`, ...lines].join('\n'))
      .join('\n\n')}\n`,
  )
