import { type DescField, ScalarType } from '@bufbuild/protobuf'

/**
 * Returns the path of a map entry, which follows the field's name: `["k"]`, or `[1]` if keys are not strings.
 */
export const entryKey = (field: DescField, key: string): string =>
  field.fieldKind === 'map' && field.mapKey === ScalarType.STRING ? `[${JSON.stringify(key)}]` : `[${key}]`
