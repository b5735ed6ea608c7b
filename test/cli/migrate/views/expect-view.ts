import type { Style } from '../../../../cli/migrate/lines/line-style.js'
import { runCommandLine } from '../../../../cli/migrate/run-command-line.js'
import { paintFor } from '../../../../cli/output/paint.js'
import { expect } from 'chai'
import { expectGolden } from '../../../support/golden.js'

/** Of a command with the flag `--files older`, which every command line of a view has to keep. */
export const STYLE: Style = { paint: paintFor({}), command: runCommandLine({ files: 'older' }) }

/**
 * Compares what a view prints of each kind with its golden file, which is the only place that has its
 * sentences.
 * @param others - those that another golden file has, by what stands for them here. Each is printed.
 */
export function expectView(
  command: string,
  kinds: Readonly<Record<string, readonly string[]>>,
  others: Readonly<Record<string, string>> = {},
): void {
  const text = Object.entries(kinds)
    .map(([kind, lines]) => [`# ${kind}`, ...lines].join('\n'))
    .join('\n\n')
  for (const [name, sentence] of Object.entries(others)) expect(text, name).to.include(sentence)
  const own = Object.entries(others).reduce(
    (rest, [name, sentence]) => rest.replaceAll(sentence, `<${name}>`),
    text,
  )
  expectGolden(`cli/views/migrate-${command}.txt`, `${own}\n`)
}

/** A value of each kind, several where its sentence has parts that not all have. */
export type Samples<Value extends { readonly kind: string }> = {
  readonly [Kind in Value['kind']]: readonly OfKind<Value, Kind>[]
}
type OfKind<Value extends { readonly kind: string }, Kind> = Value extends unknown
  ? Kind extends Value['kind']
    ? Omit<Value, 'kind'>
    : never
  : never

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
