import { bufferOf } from './buffer-of.js'
import type { Dialect } from './dialect.js'
import type { PlanColumn, PlanValue } from '../query/plan.js'

/** What a driver is given. */
export type BoundValue = string | number | bigint | boolean | Uint8Array

/** How the values of a column reach a statement: for a filter and for a write alike, so that both mean the same row. */
export interface Bind {
  /** Text that stands for the value; `index` counts the statement's parameters from 1. */
  placeholder(column: PlanColumn, index: number): string
  /** The value in the form in which the column stores it. An enum is its name. */
  value(column: PlanColumn, value: PlanValue): BoundValue
}

/** Stands for the column where a statement binds plain text. */
export const TEXT: PlanColumn = { column: '', kind: 'string', nullable: false }

export const bindOf = (dialect: Dialect): Bind => BINDS[dialect]

const postgres: Bind = {
  placeholder: (_column, index) => `$${index}`,
  value: ({ kind }, value) => {
    if (typeof value === 'number') return finite(rounded(kind, value))
    if (typeof value === 'bigint') return kind === 'timestamp' ? isoMicros(value) : value.toString()
    if (typeof value !== 'object') return value
    return value instanceof Date ? value.toISOString() : bufferOf(value)
  },
}

/** A 64-bit integer is bound as text: as a number it would be compared as a double. */
const mysql: Bind = {
  placeholder: ({ kind }) => {
    if (kind === 'int64' || kind === 'duration') return 'CAST(? AS SIGNED)'
    return kind === 'uint64' ? 'CAST(? AS UNSIGNED)' : '?'
  },
  value: ({ kind }, value) => {
    if (typeof value === 'number') return rounded(kind, value)
    if (typeof value === 'boolean') return Number(value)
    if (typeof value === 'bigint') return kind === 'timestamp' ? datetime(isoMicros(value)) : value.toString()
    if (typeof value !== 'object') return value
    return value instanceof Date ? `${datetime(value.toISOString())}000` : bufferOf(value)
  },
}

/**
 * `sqlite3` stores a bound bigint as NULL, so that 64-bit integers are bound as text. NUMERIC keeps what INTEGER would
 * clamp to 2^63-1.
 */
const sqlite: Bind = {
  placeholder: ({ kind }) => {
    if (kind === 'int64' || kind === 'duration') return 'CAST(? AS INTEGER)'
    return kind === 'uint64' ? 'CAST(? AS NUMERIC)' : '?'
  },
  value: ({ kind }, value) => {
    if (typeof value === 'number') return rounded(kind, value)
    if (typeof value === 'boolean') return Number(value)
    if (typeof value === 'bigint') return kind === 'timestamp' ? isoMillis(value) : value.toString()
    if (typeof value !== 'object') return value
    return value instanceof Date ? value.toISOString() : bufferOf(value)
  },
}

const BINDS: Readonly<Record<Dialect, Bind>> = { postgres, mysql, mariadb: mysql, sqlite }

/** SQLite would keep 64 bits of a float, and then not find what was stored. */
const rounded = (kind: PlanColumn['kind'], value: number): number =>
  kind === 'float' ? Math.fround(value) : value

const finite = (value: number): BoundValue => (Number.isFinite(value) ? value : String(value))

/** What MySQL calls a datetime, of an ISO text in UTC. */
const datetime = (iso: string): string => iso.slice(0, -1).replace('T', ' ')

/** `YYYY-MM-DDTHH:MM:SS.sssZ` of microseconds since the epoch, cut. */
const isoMillis = (micros: bigint): string => {
  const ms = micros / 1000n - (micros % 1000n < 0n ? 1n : 0n)
  return new Date(Number(ms)).toISOString()
}

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ` of microseconds since the epoch. */
const isoMicros = (micros: bigint): string => {
  const rest = ((micros % 1000n) + 1000n) % 1000n
  return `${isoMillis(micros).slice(0, -1)}${String(rest).padStart(3, '0')}Z`
}
