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
