import type { CommandLine } from '../../text/command-line.js'

/** One sentence for each kind, built from its values. The command that prints it also formats commands. */
export type Messages = Readonly<Record<string, (values: never, command: CommandLine) => string>>

/** A value of one of the kinds of a message table. */
export type KindsOf<Table extends Messages> = {
  [Kind in keyof Table]: { readonly kind: Kind } & Readonly<ValuesOf<Table[Kind]>>
}[keyof Table]

type ValuesOf<Message> = Message extends (values: infer Values, command: CommandLine) => string
  ? unknown extends Values
    ? object
    : Values
  : never

/** The sentence of a value. */
export function writtenBy<Table extends Messages>(
  table: Table,
  value: { readonly kind: keyof Table },
  command: CommandLine,
): string {
  return table[value.kind]?.(value as never, command) ?? String(value.kind)
}
