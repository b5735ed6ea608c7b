import { InvalidArgument } from '../../errors.js'

const UNITS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
}

/**
 * Parses a `grpc-timeout` header, which has 1 to 8 digits and a unit, and returns milliseconds.
 * @throws InvalidArgument for any other format.
 */
export function timeoutMs(text: string): number {
  const [, amount, unit] = /^([0-9]{1,8})([HMSmun])$/.exec(text) ?? []
  if (amount === undefined || unit === undefined)
    throw new InvalidArgument('', 'the header grpc-timeout must be 1 to 8 digits and a unit, such as 500m')
  return Number(amount) * (UNITS[unit] ?? 0)
}

/**
 * Formats milliseconds for a `grpc-timeout` header. The value is rounded up if 8 digits are not sufficient.
 */
export function timeoutText(ms: number): string {
  for (const unit of ['m', 'S', 'M'] as const) {
    const amount = Math.max(1, Math.ceil(ms / (UNITS[unit] ?? 1)))
    if (amount < 1e8) return `${amount}${unit}`
  }
  return `${Math.min(Math.ceil(ms / 3_600_000), 99_999_999)}H`
}
