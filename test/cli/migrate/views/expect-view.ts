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

/** A value of each kind, several where its sentence has parts that not all have. */
export type Samples<Value extends { readonly kind: string }> = {
  readonly [Kind in Value['kind']]: readonly Omit<Extract<Value, { readonly kind: Kind }>, 'kind'>[]
}

/** The sentences of such values. */
export function linesOf<Value extends { readonly kind: string }>(
  samples: Samples<Value>,
  textOf: (value: Value) => string,
): Readonly<Record<string, readonly string[]>> {
  const entries = Object.entries(samples) as [string, readonly object[]][]
  return Object.fromEntries(
    entries.map(([kind, values]) => [
      kind,
      values.map((value) => textOf({ kind, ...value } as unknown as Value)),
    ]),
  )
}
