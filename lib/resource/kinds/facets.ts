import type { DescField } from '@bufbuild/protobuf'
import type { ColumnOptions } from 'typeorm'
import { enumNamesOf } from './enum-names.js'
import type { Facets, KindName } from './kind.js'
import { kindOf } from './kinds.js'
import { jsonColumnOf } from './message-values.js'

/** What of a column belongs to its kind. */
export function facetsOf(kind: KindName, inMessage: DescField | undefined, options: ColumnOptions) {
  const { declared, jsonColumn } = kindOf({ kind })
  const json = jsonColumn?.(inMessage && jsonColumnOf(inMessage))
  return {
    maxLength: declared.maxLength?.(options),
    repeated: inMessage?.fieldKind === 'list',
    ...(inMessage?.fieldKind === 'enum' ? { enumNames: enumNamesOf(inMessage.enum) } : {}),
    ...(json && { json }),
  } satisfies Facets
}
