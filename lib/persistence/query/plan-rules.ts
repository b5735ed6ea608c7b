import { INT64, UINT64 } from '../../resource/kinds/integers.js'
import type { EntityValue, PlanRules } from '../../resource/kinds/kind.js'
import { KINDS } from '../../resource/kinds/kinds.js'
import { isInfinite } from '../../resource/kinds/fractions.js'
import { INTEGER, type Literal, Misfit, NUMBER } from '../../resource/kinds/literal.js'
import { isInstant } from '../../resource/kinds/timestamp.js'
import { isStoredText } from '../../resource/kinds/text.js'
import type { PlanColumn } from './query-plan.js'

/** Returns the rules of a column for filters, sort orders and cursors. */
export const rulesOf = ({ kind }: Pick<PlanColumn, 'kind'>): PlanRules => (kind === 'any' ? ANY : KINDS[kind])

/** The rules for a column of unknown type. Its values are used as written. */
const ANY: PlanRules = {
  literal: asWritten,
  isText: true,
  hasOrder: true,
  isSortable: true,
  hasKeys: false,
  isNested: false,
  exceeds: () => false,
  isInCursor: (value) =>
    typeof value === 'string' ? isStoredText(value) : !(value instanceof Date) || isInstant(value),
  isForeign: isInfinite,
}

function asWritten({ kind, text }: Literal): EntityValue | Misfit {
  if (kind === 'string') return text
  if (kind === 'word' && (text === 'true' || text === 'false')) return text === 'true'
  if (kind !== 'number' || !NUMBER.test(text)) return Misfit.takes('a number, or a string in double quotes')
  const value = Number(text)
  if (!Number.isFinite(value)) return OUT_OF_RANGE
  if (!INTEGER.test(text) || Number.isSafeInteger(value)) return value
  const wide = BigInt(text)
  return wide >= INT64[0] && wide <= UINT64[1] ? wide : OUT_OF_RANGE
}

const OUT_OF_RANGE = new Misfit((_, found) => `${found} is out of range`)
