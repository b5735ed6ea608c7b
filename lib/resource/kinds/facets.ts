import { type DescField, ScalarType } from '@bufbuild/protobuf'
import type { ColumnOptions } from 'typeorm'
import { enumNamesOf, type EnumSource } from '../enums/enum-names.js'
import type { DecimalFacet, Facets, KindName } from './kind.js'
import { kindOf } from './kinds.js'
import { isSaid } from './text.js'
import { jsonColumnOf } from './message-values.js'

/** The declaration of a part of a key, or of an existing table's column. */
export interface DeclaredPart {
  readonly isKeyPart: boolean
  /** True if its table is another application's, so that the column has the type that is declared. */
  readonly isExisting?: boolean
  /** True if TypeORM has a table of it: with the option `existing`, or with TypeORM's naming. */
  readonly isOfTypeorm?: boolean
  /** True if Ashlar sets no limit of its own to the strings of such a column. */
  readonly mayBeLong?: boolean
  /** The other UUID formats that its column may contain; undefined if only Ashlar writes the table. */
  readonly otherFormats?: Facets['otherFormats']
  /** See `declaredClass`. */
  readonly designType: unknown
  /** Labels of an enum that `@EnumLabels()` states. */
  readonly enumLabels?: EnumSource['stated'] | undefined
  /** Of a column whose type the engine has for this enum: the type's name and schema. */
  readonly enumType?: EnumSource['type'] | undefined
}

/** The facets of a column that its kind uses. */
export function facetsOf(
  kind: KindName,
  inMessage: DescField | undefined,
  options: ColumnOptions,
  part?: DeclaredPart,
) {
  const { declared, jsonColumn } = kindOf({ kind })
  const hasCommas = part?.isOfTypeorm === true && isTextList(options.type, inMessage)
  const json = jsonColumn?.(inMessage && jsonColumnOf(inMessage), hasCommas)
  const hasEngineLength =
    part?.mayBeLong === true && kind === 'string' && !isSaid(options.length) && options.type !== 'char'
  return {
    maxLength: hasEngineLength ? undefined : declared.maxLength?.(options),
    ...(hasEngineLength && { hasEngineLength: true as const }),
    repeated: hasCommas || inMessage?.fieldKind === 'list',
    ...(inMessage?.fieldKind === 'enum'
      ? {
          enumNames: enumNamesOf(inMessage.enum, {
            declared: options.enum,
            stated: part?.enumLabels,
            type: part?.enumType,
            designType: part?.designType,
          }),
        }
      : {}),
    ...(json && { json }),
    ...(hasCommas && { hasCommas: true as const }),
    ...(declared.takesPrecision === true && { decimal: decimalFacet(inMessage, options, part?.designType) }),
    ...(declared.holds === 'UUID' && options.type === 'binary' ? { stored: 'binary(16)' as const } : {}),
    ...(declared.holds === 'UUID' &&
      options.type !== 'binary' &&
      part?.otherFormats !== undefined && { otherFormats: part.otherFormats }),
    ...(part?.isKeyPart === true
      ? partFacets(kind, inMessage, options, part.designType)
      : (wideFacets(kind, inMessage, part?.designType) ??
        (part?.isExisting === true ? narrowRange(kind, options.type) : {}))),
  } satisfies Facets
}

/** A column in which TypeORM stores the elements of a list as text. A boolean has no text in JSON. */
export const isTextList = (type: unknown, inMessage: DescField | undefined): boolean =>
  type === 'simple-array' &&
  (inMessage === undefined ||
    (inMessage.fieldKind === 'list' &&
      inMessage.listKind !== 'message' &&
      inMessage.scalar !== ScalarType.BOOL))

function decimalFacet(
  inMessage: DescField | undefined,
  { precision, scale }: ColumnOptions,
  designType: unknown,
): DecimalFacet {
  const isNumber = inMessage?.fieldKind === 'scalar' && inMessage.scalar !== ScalarType.STRING
  return {
    precision: precision ?? undefined,
    // SQL has no digits after the point unless a scale is stated.
    scale: scale ?? (precision === undefined || precision === null ? undefined : 0),
    inProperty: designType === Number ? 'number' : 'string',
    inMessage: inMessage?.message === undefined ? (isNumber ? 'number' : 'string') : 'message',
  }
}

const SMALLINTS: ReadonlySet<unknown> = new Set(['smallint', 'int2'])
const SMALLINT = [-32_768, 32_767] as const
const UNSIGNED_SMALLINT = [0, 65_535] as const

/** The facets of a column that is a part of a key. */
function partFacets(
  kind: KindName,
  inMessage: DescField | undefined,
  { type }: ColumnOptions,
  designType: unknown,
): Facets {
  const { declared, key } = kindOf({ kind })
  if (key === undefined || declared.family !== 'integers') return {}
  const hasDigits = designType === String
  const isText = inMessage?.fieldKind === 'scalar' && inMessage.scalar === ScalarType.STRING
  return {
    ...(hasDigits && { hasDigits }),
    ...((hasDigits || isText) && { takesText: true }),
    ...(SMALLINTS.has(type) && { stored: 'smallint', ...narrowRange(kind, type) }),
  }
}

/** Of a 64-bit integer whose property is a string of digits, or a number. */
function wideFacets(
  kind: KindName,
  inMessage: DescField | undefined,
  designType: unknown,
): Facets | undefined {
  if (kindOf({ kind }).declared.holds !== 'bigint' || inMessage?.message !== undefined) return undefined
  if (designType === String) return { hasDigits: true, inProperty: 'string' }
  if (designType !== Number) return undefined
  const [least, most] = kindOf({ kind }).declared.isUnsigned === true ? [0n, SAFE] : [-SAFE, SAFE]
  return { inProperty: 'number', range: [least, most] }
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/** The numbers that a column of 16 bits holds. */
function narrowRange(kind: KindName, type: unknown): Pick<Facets, 'range'> {
  const { declared } = kindOf({ kind })
  if (declared.family !== 'integers' || !SMALLINTS.has(type)) return {}
  return { range: declared.isUnsigned === true ? UNSIGNED_SMALLINT : SMALLINT }
}
