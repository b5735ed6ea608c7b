import { type DescField, ScalarType } from '@bufbuild/protobuf'

/** An entry of a map in a path, behind the name of the field: `["k"]`, or `[1]` where keys are no texts. */
export const entryKey = (field: DescField, key: string): string =>
  field.fieldKind === 'map' && field.mapKey === ScalarType.STRING ? `[${JSON.stringify(key)}]` : `[${key}]`
