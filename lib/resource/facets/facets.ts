import { type DescField, ScalarType } from '@bufbuild/protobuf'
import type { ColumnOptions } from 'typeorm'
import { wrappedScalar } from '../kinds/declared-kind.js'
import { enumNamesOf, type EnumSource, namesOfColumn } from '../enums/enum-names.js'
import { decimalFacet } from '../kinds/fractions.js'
import { narrowRange, SMALLINTS } from '../kinds/integers.js'
import { json as jsonKind } from '../kinds/json.js'
import type { DecimalFacet, Facets, KindName } from '../kinds/kind.js'
import { kindOf } from '../kinds/kinds.js'
import { ENUM_TYPES, isSaid } from '../kinds/text.js'
import { jsonColumnOf } from '../kinds/message-values.js'
import { listFormOf } from './list-form.js'

/** The declaration of a key part or of a column of an existing table. */
export interface DeclaredPart {
  readonly isKeyPart: boolean
  /** True if another application owns the table, so that the column has exactly the declared type. */
  readonly isExisting?: boolean
  /** True if TypeORM writes the table: with the option `existing`, or with TypeORM's naming. */
  readonly isOfTypeorm?: boolean
  /** True if Ashlar sets no limit of its own on strings in the column. */
  readonly mayBeLong?: boolean
  /** Other UUID formats that the column may contain; undefined if only Ashlar writes the table. */
  readonly otherFormats?: Facets['otherFormats']
  /** True if the column has a transformer, which accepts and returns the kind's own values. */
  readonly isTransformed?: boolean
  /** See `declaredClass`. */
  readonly designType: unknown
  /** The labels stated in `@EnumLabels()`. */
  readonly enumLabels?: EnumSource['stated'] | undefined
  /** The name and schema of the column's enum type, if the engine has one. */
  readonly enumType?: EnumSource['type'] | undefined
}

/** Returns the facets of a column that its kind uses. */
export function facetsOf(
  kind: KindName,
  inMessage: DescField | undefined,
  options: ColumnOptions,
  part?: DeclaredPart,
) {
  const { declared, jsonColumn } = kindOf({ kind })
  const list = kind === jsonKind.name ? listFormOf(inMessage, options, part) : undefined
  const json = jsonColumn?.(inMessage && jsonColumnOf(inMessage), list)
  const hasEngineLength =
    part?.mayBeLong === true && kind === 'string' && !isSaid(options.length) && options.type !== 'char'
  const isOwn = part?.isKeyPart === true || part?.isTransformed === true
  const held = isOwn ? undefined : declared.heldAs?.get(part?.designType)
  const isRefined = inMessage?.message !== undefined && inMessage.message.typeName === declared.refinesMessage
  return {
    ...(held && { held }),
    ...(isRefined && { message: declared.refinesMessage as string }),
    maxLength: hasEngineLength ? undefined : declared.maxLength?.(options),
    ...(hasEngineLength && { hasEngineLength: true as const }),
    repeated: list !== undefined || inMessage?.fieldKind === 'list',
    ...(inMessage?.fieldKind === 'enum'
      ? {
          enumNames: enumNamesOf(inMessage.enum, {
            declared: options.enum,
            stated: part?.enumLabels,
            type: part?.enumType,
            designType: part?.designType,
          }),
        }
      : part?.isTransformed === true && ENUM_TYPES.has(options.type)
        ? { enumNames: namesOfColumn({ declared: options.enum, type: part.enumType }) }
        : {}),
    ...(json && { json }),
    ...(list && { list }),
    ...(declared.takesPrecision === true && {
      decimal: decimalFacet(
        part?.designType === Number ? 'number' : 'string',
        options,
        decimalInMessage(inMessage),
      ),
    }),
    ...(declared.holds === 'UUID' && options.type === 'binary' ? { stored: 'binary(16)' as const } : {}),
    ...(declared.holds === 'UUID' &&
      options.type !== 'binary' &&
      part?.otherFormats !== undefined && { otherFormats: part.otherFormats }),
    ...(part?.isKeyPart === true
      ? partFacets(kind, inMessage, options, part.designType)
      : (wideFacets(kind, inMessage, part?.designType) ??
        (part?.isExisting === true ? narrowRange(declared, options.type) : {}))),
  } satisfies Facets
}

function decimalInMessage(inMessage: DescField | undefined): DecimalFacet['inMessage'] {
  const scalar = inMessage && (wrappedScalar(inMessage) ?? inMessage.scalar)
  if (inMessage?.message !== undefined && scalar === undefined) return 'message'
  return scalar !== undefined && scalar !== ScalarType.STRING ? 'number' : 'string'
}

/** Returns the facets of a column that is a key part. */
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
    ...(SMALLINTS.has(type) && { stored: 'smallint', ...narrowRange(declared, type) }),
  }
}

/** Returns the facets of a 64-bit integer whose property is a number or a string of digits. */
function wideFacets(
  kind: KindName,
  inMessage: DescField | undefined,
  designType: unknown,
): Facets | undefined {
  const isMessage = inMessage?.message !== undefined && wrappedScalar(inMessage) === undefined
  if (kindOf({ kind }).declared.holds !== 'bigint' || isMessage) return undefined
  if (designType === String) return { hasDigits: true, inProperty: 'string' }
  if (designType !== Number) return undefined
  const [least, most] = kindOf({ kind }).declared.isUnsigned === true ? [0n, SAFE] : [-SAFE, SAFE]
  return { inProperty: 'number', range: [least, most] }
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER)
