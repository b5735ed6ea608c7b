import { type Problem, propertyProblem } from '../../errors.js'
import { kindOf } from '../kinds/kinds.js'
import type { Field } from './field.js'

/** The declarations of a property besides its kind. */
interface Said {
  /** The column type of `@Column()`. */
  readonly type: unknown
  /** The class of the property; undefined where nothing says it. */
  readonly designType: unknown
  readonly isInMessage: boolean
  /** True if it is a part of the key, or holds the key of another resource. */
  readonly isKeyPart: boolean
}

/**
 * The refusal of a property whose type decides which values it has, where nothing says the type: some
 * compilers emit no decorator metadata, and TypeScript reports `Object` for what is not a class.
 */
export function unstatedType(field: Field, said: Said): Problem[] {
  const { designType, isKeyPart } = said
  if (designType !== undefined && !(isKeyPart && designType === Object)) return []
  const [first, second] = typesOf(field, said)
  if (first === undefined || second === undefined) return []
  const why =
    designType === undefined
      ? 'its class was compiled without decorator metadata'
      : 'TypeScript reports its type as Object'
  return [
    propertyProblem(
      'column',
      field.property,
      `${field.property}: it is unknown whether it is a ${typeNamed(first)} or a ${typeNamed(second)}, because ${why}`,
      `write @Reflect.metadata('design:type', ${first.name}) or the same with ${second.name} above the property${designType === undefined ? ', or compile with emitDecoratorMetadata' : ''}`,
    ),
  ]
}

type Class = typeof BigInt | typeof Number | typeof String | typeof Boolean

/** Classes that the property may have, of which the values differ. */
function typesOf(field: Field, { type, isInMessage, isKeyPart }: Said): readonly Class[] {
  const { declared, key } = kindOf(field)
  const isWide = declared.fits(BigInt, false)
  // In a key, an integer may be its digits.
  if (isKeyPart && key !== undefined && declared.family === 'integers')
    return [isWide ? BigInt : Number, String]
  // TypeORM reads a string, and a repository a bigint.
  if (isWide) return [BigInt, String]
  return type === 'tinyint' && !isInMessage ? [Number, Boolean] : []
}

const typeNamed = ({ name }: Class): string => name.toLowerCase()
