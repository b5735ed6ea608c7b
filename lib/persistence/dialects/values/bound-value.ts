/** A value that a driver accepts. */
export type BoundValue = string | number | bigint | boolean | Uint8Array

/** Formats microseconds since the epoch as `YYYY-MM-DDTHH:MM:SS.sssZ`, rounding down. */
export const isoMillis = (micros: bigint): string => {
  const ms = micros / 1000n - (micros % 1000n < 0n ? 1n : 0n)
  return new Date(Number(ms)).toISOString()
}

/** Returns the last microsecond of a time's millisecond. */
export const lastMicrosecond = (time: Date): string => `${time.toISOString().slice(0, -1)}999Z`

/** Formats microseconds since the epoch as `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
export const isoMicros = (micros: bigint): string => {
  const rest = ((micros % 1000n) + 1000n) % 1000n
  return `${isoMillis(micros).slice(0, -1)}${String(rest).padStart(3, '0')}Z`
}

/**
 * Repeats the value that is `before` positions earlier. A numbered placeholder is simply written again. If
 * placeholders have no number, the SQL marks the repetition, and {@link repeating} determines the positions
 * of the values.
 */
export const again = (placeholder: string, before = 1): string =>
  placeholder.includes('?') ? placeholder.replace('?', `?\0${before}\0`) : placeholder

/** SQL in which several placeholders share a value. */
export interface Repeating {
  /** The SQL to send. */
  readonly text: string
  /** The position of each placeholder's value, or undefined if each has its own. */
  readonly positions?: readonly number[]
}

/** Quoted strings and names contain no placeholders. */
const PLACEHOLDER = /'(?:[^'\\]|\\[^]|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\?(?:\0(\d+)\0)?/g

/** Resolves the marks of {@link again}. */
export function repeating(written: string): Repeating {
  if (!written.includes('\0')) return { text: written }
  const positions: number[] = []
  let count = 0
  const text = written.replace(PLACEHOLDER, (found, before?: string) => {
    if (!found.startsWith('?')) return found
    positions.push(before === undefined ? count++ : (positions[positions.length - Number(before)] as number))
    return '?'
  })
  return { text, positions }
}

/** Returns the values in the order of the placeholders. */
export const inPositions = (
  values: readonly unknown[],
  { positions }: Pick<Repeating, 'positions'>,
): readonly unknown[] => (positions === undefined ? values : positions.map((position) => values[position]))
