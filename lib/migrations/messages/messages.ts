import type { CommandLine } from '../../text/command-line.js'

/** A sentence for each kind, built from the values of the message. `command` formats an `ashlar` command. */
export type Messages = Readonly<Record<string, (values: never, command: CommandLine) => string>>

/** The union of a message table's kinds, each with its values. */
export type KindsOf<Table extends Messages> = {
  [Kind in keyof Table]: { readonly kind: Kind } & Readonly<ValuesOf<Table[Kind]>>
}[keyof Table]

type ValuesOf<Message> = Message extends (values: infer Values, command: CommandLine) => string
  ? unknown extends Values
    ? object
    : Values
  : never

/** Returns the sentence for a kind and its values. */
export function writtenBy<Table extends Messages>(
  table: Table,
  value: { readonly kind: keyof Table },
  command: CommandLine,
): string {
  return table[value.kind]?.(value as never, command) ?? String(value.kind)
}
