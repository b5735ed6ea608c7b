import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { InvalidArgument, type Problem, propertyProblem } from '../../errors.js'
import type { Field } from '../fields/field.js'
import { KeptUnread } from './kept-unread.js'

/** A oneof of the message, with one column for each member. A row sets at most one. */
export interface Oneof {
  readonly name: string
  /** The members by ascending number. */
  readonly members: readonly Field[]
}

type Values = Readonly<Record<string, unknown>>

/**
 * Returns the oneofs whose members are fields of the entity, and problems for fields that cannot be members.
 */
export function oneofsOf(
  message: DescMessage | undefined,
  fields: readonly Field[],
  inMessage: ReadonlyMap<string, DescField>,
): { readonly oneofs: readonly Oneof[]; readonly problems: readonly Problem[] } {
  const oneofs = (message?.oneofs ?? []).map((oneof): Oneof => {
    const numberOf = ({ property }: Field) => inMessage.get(property)?.number ?? 0
    const members = fields.filter(({ property }) => inMessage.get(property)?.oneof === oneof)
    return { name: oneof.name, members: members.toSorted((a, b) => numberOf(a) - numberOf(b)) }
  })
  return {
    oneofs: oneofs.filter(({ members }) => members.length > 0),
    problems: oneofs.flatMap(({ name, members }) => members.flatMap((member) => problemOf(member, name))),
  }
}

function problemOf(field: Field, oneof: string): Problem[] {
  const { property, role } = field
  const wrong = (rule: string, advice: string) => [
    propertyProblem('column', property, `${property} is in the oneof ${oneof}, and ${rule}`, advice),
  ]
  if (role !== 'plain' && role !== 'outputOnly')
    return wrong(`it is the ${role} of the resource`, 'move its field out of the oneof')
  if (field.default !== undefined || field.isFilledByTable === true || field.tableDefault !== undefined)
    return wrong('it has a default, which would be set together with another member', 'remove the default')
  if (field.generated === true || field.isNotUpdated === true || field.isNotInserted === true)
    return wrong(
      'not every write can clear its column',
      'remove the option, or move its field out of the oneof',
    )
  return []
}

/** Returns true if a row or a patch has a value for the member. */
const isSet = (values: Values, { property }: Field): boolean => {
  const value = values[property]
  return value !== undefined && value !== null && !(value instanceof KeptUnread)
}

/**
 * Returns the members that a write must clear because it sets another member of their oneof.
 * @param written - the fields that are written.
 * @throws InvalidArgument if two members of a oneof are set.
 */
export function siblingsCleared(
  oneofs: readonly Oneof[],
  values: Values,
  written: (field: Field) => boolean = () => true,
): Field[] {
  return oneofs.flatMap(({ name, members }) => {
    const [one, other] = members.filter((member) => written(member) && isSet(values, member))
    if (one === undefined) return []
    if (other === undefined) return members.filter((member) => member !== one)
    throw new InvalidArgument(
      other.proto,
      `cannot be set together with ${one.proto}: a row sets at most one member of the oneof ${name}`,
    )
  })
}

/**
 * Keeps only the member with the lowest number if a row sets several, and returns the affected oneofs. Only
 * other programs write such rows.
 */
export function severalSet(oneofs: readonly Oneof[], entity: Record<string, unknown>): readonly Oneof[] {
  return oneofs.filter(({ members }) => {
    const [, ...others] = members.filter((member) => isSet(entity, member))
    for (const { property } of others) entity[property] = undefined
    return others.length > 0
  })
}
