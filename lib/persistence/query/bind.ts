import type { Dialect } from '../executor.js'
import type { PlanColumn, PlanValue } from './plan.js'

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
  value: (_column, value) => {
    if (value instanceof Date) return value.toISOString()
    if (typeof value === 'bigint') return _column.kind === 'timestamp' ? isoMicros(value) : value.toString()
    if (value instanceof Uint8Array) return bufferOf(value)
    return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
  },
}

/** A 64-bit integer is bound as text: as a number it would be compared as a double. */
const mysql: Bind = {
  placeholder: ({ kind }) => {
    if (kind === 'int64' || kind === 'duration') return 'CAST(? AS SIGNED)'
    return kind === 'uint64' ? 'CAST(? AS UNSIGNED)' : '?'
  },
  value: (column, value) => {
    if (value instanceof Date) return `${value.toISOString().slice(0, -1).replace('T', ' ')}000`
    if (typeof value === 'bigint') {
      return column.kind === 'timestamp' ? isoMicros(value).slice(0, -1).replace('T', ' ') : value.toString()
    }
    if (value instanceof Uint8Array) return bufferOf(value)
    return typeof value === 'boolean' ? Number(value) : value
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
  value: (column, value) => {
    if (value instanceof Date) return value.toISOString()
    if (typeof value === 'bigint') {
      return column.kind === 'timestamp'
        ? new Date(Number(floorDivide(value, 1000n))).toISOString()
        : value.toString()
    }
    if (value instanceof Uint8Array) return bufferOf(value)
    return typeof value === 'boolean' ? Number(value) : value
  },
}

const BINDS: Readonly<Record<Dialect, Bind>> = { postgres, mysql, mariadb: mysql, sqlite }

/** The same memory: not every driver takes a plain Uint8Array. */
const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ` of microseconds since the epoch. */
const isoMicros = (micros: bigint): string => {
  const ms = floorDivide(micros, 1000n)
  const rest = Number(micros - ms * 1000n)
  return `${new Date(Number(ms)).toISOString().slice(0, -1)}${String(rest).padStart(3, '0')}Z`
}

const floorDivide = (a: bigint, b: bigint): bigint => (a % b < 0n ? a / b - 1n : a / b)
