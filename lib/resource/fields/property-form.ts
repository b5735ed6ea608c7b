import { lineage } from '../../../decorators/entity-facts.js'
import { type Problem, propertyProblem } from '../../errors.js'

type Class = new () => object

/**
 * Returns the reasons, with advice, why a class property cannot store a value. The value must be an own
 * property of the entity, because TypeORM and copies of entities read only own properties.
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

/** Formats a property's name for a message, quoted if it is not a word. */
export const shownProperty = (property: string): string =>
  /^[\w$]+$/.test(property) ? property : JSON.stringify(property)

/**
 * Returns the kind of a property that does not store a value of its own, such as an accessor.
 * @param isShared - true if the property belongs to the class rather than to an entity. A function is then a
 *   method.
 */
function formOf(found: PropertyDescriptor | undefined, isShared: boolean): string | undefined {
  if (found === undefined) return undefined
  if (found.get !== undefined || found.set !== undefined) return 'an accessor'
  if (isShared && typeof found.value === 'function') return 'a method'
  return found.writable === false ? 'read-only' : undefined
}

/** Returns the property of a new entity; undefined if the constructor needs arguments or a context. */
function ofInstance(entity: Class, property: string): PropertyDescriptor | undefined {
  try {
    const made = new entity()
    const own = Object.getOwnPropertyDescriptor(made, property)
    return own === undefined && !Object.isExtensible(made) ? { value: undefined, writable: false } : own
  } catch {
    return undefined
  }
}
