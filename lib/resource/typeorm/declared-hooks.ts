import { type Problem, propertyProblem } from '../../errors.js'
import { getMetadataArgsStorage } from 'typeorm'
import { lineage } from '../../../decorators/entity-facts.js'

/** The events of TypeORM's listeners and subscribers, with the names of its decorators. */
export const HOOK_EVENTS = [
  ...['AfterLoad', 'BeforeInsert', 'AfterInsert', 'BeforeUpdate', 'AfterUpdate', 'BeforeRemove'],
  ...['AfterRemove', 'BeforeSoftRemove', 'AfterSoftRemove', 'BeforeRecover', 'AfterRecover'],
] as readonly HookEvent[]

export type HookEvent =
  | 'AfterLoad'
  | 'BeforeInsert'
  | 'AfterInsert'
  | 'BeforeUpdate'
  | 'AfterUpdate'
  | 'BeforeRemove'
  | 'AfterRemove'
  | 'BeforeSoftRemove'
  | 'AfterSoftRemove'
  | 'BeforeRecover'
  | 'AfterRecover'

/** An entity method that is called at an event. */
export interface EntityListener {
  readonly event: HookEvent
  readonly property: string | symbol
}

/** Returns the listeners of an entity and its ancestors in declaration order. */
export function listenersOf(entity: object): readonly EntityListener[] {
  const classes = new Set<unknown>(lineage(entity))
  return getMetadataArgsStorage()
    .entityListeners.filter(({ target }) => classes.has(target))
    .map(({ type, propertyName }) => ({ event: pascalCase(type) as HookEvent, property: propertyName }))
}

/** Returns the problems of listeners that would never be called or be called twice. */
export function listenerProblems(
  listeners: readonly EntityListener[],
  { softDeletable }: { readonly softDeletable: boolean },
): Problem[] {
  return listeners.flatMap(({ event, property }, at) => {
    const name = `${String(property)}: @${event}()`
    const why = neverCalled(event, softDeletable)
    if (why !== undefined) return [propertyProblem('hook', String(property), `${name} is never called`, why)]
    const isSecond = listeners.slice(0, at).some((one) => one.event === event && one.property === property)
    return isSecond
      ? [
          propertyProblem(
            'hook',
            String(property),
            `${name} is declared twice, and would be called twice`,
            'keep one of them',
          ),
        ]
      : []
  })
}

/** Returns the reason why an entity never receives an event, with advice; undefined if it does. */
export const neverCalled = (event: HookEvent, softDeletable: boolean): string | undefined => {
  if (event === 'BeforeRemove' || event === 'AfterRemove')
    return softDeletable
      ? `a @SoftDeletable() entity is not removed: use @${event.replace('Remove', 'SoftRemove')}()`
      : undefined
  if (softDeletable || !/Soft|Recover/.test(event)) return undefined
  return `the entity is permanently removed: write @SoftDeletable() above it, or use ${event.includes('Soft') ? `@${event.replace('Soft', '')}()` : 'another hook'}`
}

/** Converts `before-soft-remove` to `BeforeSoftRemove`. */
const pascalCase = (text: string): string =>
  text.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())
