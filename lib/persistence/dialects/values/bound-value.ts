/** A value as a driver takes it. */
export type BoundValue = string | number | bigint | boolean | Uint8Array

/** `YYYY-MM-DDTHH:MM:SS.sssZ` of microseconds since the epoch, cut. */
export const isoMillis = (micros: bigint): string => {
  const ms = micros / 1000n - (micros % 1000n < 0n ? 1n : 0n)
  return new Date(Number(ms)).toISOString()
}

/** The last microsecond that is cut to the millisecond. */
export const lastMicrosecond = (time: Date): string => `${time.toISOString().slice(0, -1)}999Z`

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ` of microseconds since the epoch. */
export const isoMicros = (micros: bigint): string => {
  const rest = ((micros % 1000n) + 1000n) % 1000n
  return `${isoMillis(micros).slice(0, -1)}${String(rest).padStart(3, '0')}Z`
}

/**
 * Repeats the value that is this many positions before. A numbered placeholder is written again; if
 * placeholders have no numbers, the text marks it, and the statement gets the positions of its values.
 */
export const again = (placeholder: string, before = 1): string =>
  placeholder.includes('?') ? placeholder.replace('?', `?\0${before}\0`) : placeholder

/** SQL in which several placeholders can share a value. */
export interface Repeating {
  /** As it is sent. */
  readonly text: string
  /** For each placeholder the position of its value; undefined where each has a value of its own. */
  readonly positions?: readonly number[]
}

/** Quoted text has no placeholders. */
const PLACEHOLDER = /'(?:[^'\\]|\\[^]|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\?(?:\0(\d+)\0)?/g

/** Reads what {@link again} has written. */
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

/** The values in the order of the placeholders. */
export const inPositions = (
  values: readonly unknown[],
  { positions }: Pick<Repeating, 'positions'>,
): readonly unknown[] => (positions === undefined ? values : positions.map((position) => values[position]))
