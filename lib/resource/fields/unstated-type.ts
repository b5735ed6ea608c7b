import { type Problem, propertyProblem } from '../../errors.js'
import { kindOf } from '../kinds/kinds.js'
import type { Field } from './field.js'

/** The declarations of a property other than its kind. */
interface Said {
  /** The `type` of `@Column()`. */
  readonly type: unknown
  /** The class of the property; undefined if it is not declared. */
  readonly designType: unknown
  readonly isInMessage: boolean
  /** True for a key part, and for a reference to another resource. */
  readonly isKeyPart: boolean
}

/**
 * Returns the problem of a property whose possible values depend on a type that nothing declares. Some
 * compilers emit no decorator metadata, and TypeScript reports `Object` for types that are not classes.
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

/** Returns the classes that the property may have, which differ in their values. */
function typesOf(field: Field, { type, isInMessage, isKeyPart }: Said): readonly Class[] {
  const { declared, key } = kindOf(field)
  const isWide = declared.fits(BigInt, false)
  // In a key, an integer may be a string of digits.
  if (isKeyPart && key !== undefined && declared.family === 'integers')
    return [isWide ? BigInt : Number, String]
  // TypeORM returns a string, a repository returns a bigint.
  if (isWide) return [BigInt, String]
  return type === 'tinyint' && !isInMessage ? [Number, Boolean] : []
}

const typeNamed = ({ name }: Class): string => name.toLowerCase()
