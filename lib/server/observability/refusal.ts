import type { DescMessage } from '@bufbuild/protobuf'
import { AshlarError } from '../../errors.js'
import { DriverFault } from '../../faults/driver-fault.js'

/** The reason why a call failed, as stated in the details of its error. */
export interface Refusal {
  readonly reason?: string
  /** For example `ETAG` or `UNIQUE`. */
  readonly precondition?: string
  readonly violations?: readonly { readonly field?: string; readonly reason?: string }[]
  /** The database's message about a rejected write, with names of tables, columns and constraints. */
  readonly database?: string
}

const MAX_VIOLATIONS = 10

/**
 * Returns the parts of an error that are safe to log: reasons and field names, never values. A path ends
 * before its first map key, because map keys are input.
 * @param input - the method's request type.
 */
export function refusalOf(error: unknown, input: DescMessage): Refusal {
  if (!(error instanceof AshlarError)) return {}
  let [reason, precondition]: (string | undefined)[] = []
  const violations: { field?: string; reason?: string }[] = []
  for (const detail of error.details) {
    if (detail.kind === 'errorInfo') reason = detail.reason
    if (detail.kind === 'preconditionFailure') precondition = detail.type
    if (detail.kind !== 'badRequest') continue
    for (const one of detail.violations.slice(0, MAX_VIOLATIONS)) {
      const field = declaredPart(one.field, input)
      violations.push({
        ...(field !== '' && { field }),
        ...(one.reason !== undefined && { reason: one.reason }),
      })
    }
  }
  return {
    ...(reason !== undefined && { reason }),
    ...(precondition !== undefined && { precondition }),
    ...(violations.length > 0 && { violations }),
    ...(error.cause instanceof DriverFault && { database: error.cause.message }),
  }
}

const STEP = /(?:^|\.)([A-Za-z_]\w*)(?:\[(\d+|"(?:[^"\\]|\\.)*")\])?/y

/**
 * Returns the part of a path that the request declares. Repositories report fields of their resource, which
 * is nested in a request field.
 */
function declaredPart(path: string, input: DescMessage): string {
  const own = partIn(path, input)
  if (own !== '') return own
  for (const field of input.fields)
    if (field.fieldKind === 'message') {
      const part = partIn(path, field.message)
      if (part !== '') return part
    }
  return ''
}

function partIn(path: string, desc: DescMessage): string {
  let kept = ''
  let at: DescMessage | undefined = desc
  STEP.lastIndex = 0
  while (at !== undefined) {
    const [step, name = '', key] = STEP.exec(path) ?? []
    const field: DescMessage['fields'][number] | undefined = at.fields.find((one) => one.name === name)
    if (step === undefined || field === undefined) break
    kept += `${kept === '' ? '' : '.'}${name}${key === undefined ? '' : /^\d/.test(key) && field.fieldKind === 'list' ? `[${key}]` : '[*]'}`
    at = 'message' in field ? field.message : undefined
  }
  return kept
}
