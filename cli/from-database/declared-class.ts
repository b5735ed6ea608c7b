import * as typeorm from 'typeorm'
import 'reflect-metadata'
import { OF_ASHLAR } from './class-source.js'
import { type Decorator, type EntityClass, Sql, Target, type Value } from './entity-class.js'

/** Declares entity classes to TypeORM, as their modules would when they are loaded. */
export function declaredClasses(entities: readonly EntityClass[]): readonly Function[] {
  const classes = new Map<string, Function>(
    entities.map(({ name }) => [name, { [name]: class {} }[name] as Function]),
  )
  const argument = (value: Value): unknown => {
    if (typeof value !== 'object') return value
    if (value instanceof Sql) return () => value.text
    if (value instanceof Target) return () => classes.get(value.name)
    if (Array.isArray(value)) return value.map(argument)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, argument(one)]))
  }
  const applied = ({ name, args }: Decorator) =>
    (typeorm as unknown as Readonly<Record<string, (...args: readonly unknown[]) => Apply>>)[name]?.(
      ...args.map(argument),
    )
  for (const { name, decorators, properties } of entities) {
    const entity = classes.get(name) as Function
    for (const { name: property, decorators: own, design } of properties) {
      Reflect.defineMetadata('design:type', design, entity.prototype as object, property)
      for (const one of own.toReversed())
        if (!OF_ASHLAR.has(one.name)) applied(one)?.(entity.prototype, property)
    }
    for (const one of decorators.toReversed()) applied(one)?.(entity)
  }
  return [...classes.values()]
}

type Apply = (target: unknown, property?: string) => void
