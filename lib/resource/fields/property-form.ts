import { lineage } from '../../../decorators/entity-facts.js'
import { type Problem, propertyProblem } from '../../errors.js'

type Class = new () => object

/**
 * Why a property of the class cannot hold a value that it is given, with what to do. A value has to be an own
 * property of the entity, as copies of entities and TypeORM take it.
 */
export function formProblems(entity: Class, property: string): Problem[] {
  const name = shownProperty(property)
  if (property in Object.prototype)
    return [
      propertyProblem(
        'column',
        property,
        `${name}: every object already has a property ${property}`,
        `give the property another name, and name its column with @Column({ name: ${JSON.stringify(property)} })`,
      ),
    ]
  const inherited = lineage(entity)
    .map((one) => Object.getOwnPropertyDescriptor((one as Class).prototype, property))
    .find((found) => found !== undefined)
  const form = formOf(inherited, true) ?? formOf(ofInstance(entity, property), false)
  return form === undefined
    ? []
    : [
        propertyProblem(
          'column',
          property,
          `${name} is ${form}, but a column needs a property that holds its value`,
          'declare a plain property',
        ),
      ]
}

/** A name as a message has it: quoted where it is not a word. */
export const shownProperty = (property: string): string =>
  /^[\w$]+$/.test(property) ? property : JSON.stringify(property)

/**
 * The form of a property without a value of its own.
 * @param isShared - true if it belongs to the class: a function is a method then, and otherwise the value of
 * an entity.
 */
function formOf(found: PropertyDescriptor | undefined, isShared: boolean): string | undefined {
  if (found === undefined) return undefined
  if (found.get !== undefined || found.set !== undefined) return 'an accessor'
  if (isShared && typeof found.value === 'function') return 'a method'
  return found.writable === false ? 'read-only' : undefined
}

/** The property of a new entity. A class whose constructor needs arguments, or a context, has none. */
function ofInstance(entity: Class, property: string): PropertyDescriptor | undefined {
  try {
    const made = new entity()
    const own = Object.getOwnPropertyDescriptor(made, property)
    return own === undefined && !Object.isExtensible(made) ? { value: undefined, writable: false } : own
  } catch {
    return undefined
  }
}
