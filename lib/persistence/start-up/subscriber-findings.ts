import type { EntitySubscriberInterface } from 'typeorm'
import { problem } from '../../errors.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { HOOK_EVENTS, neverCalled } from '../../resource/typeorm/declared-hooks.js'
import type { StartUpFindings } from '../contract/repository.js'
import { listensTo } from '../typeorm/subscribers.js'
import { NOTHING, warning } from './findings.js'

/** The entity events that a subscriber can handle. */
export const ENTITY_EVENTS = [
  ...['afterLoad', 'beforeInsert', 'afterInsert', 'beforeUpdate', 'afterUpdate', 'beforeRemove'],
  ...['afterRemove', 'beforeSoftRemove', 'afterSoftRemove', 'beforeRecover', 'afterRecover'],
] as const
/** The events of TypeORM's own queries and transactions. */
export const QUERY_EVENTS = [
  ...['beforeQuery', 'afterQuery', 'beforeTransactionStart', 'afterTransactionStart'],
  ...['beforeTransactionCommit', 'afterTransactionCommit'],
  ...['beforeTransactionRollback', 'afterTransactionRollback'],
] as const

/** Reports events that a subscriber handles but that repositories of the resource never send. */
export function subscriberFindings(
  subscriber: EntitySubscriberInterface,
  { entity, deleteTime }: ResourceModel,
): StartUpFindings {
  const name = subscriber.constructor.name
  const hasMethod = (events: readonly string[]) => events.some((event) => event in subscriber)
  const target = subscriber.listenTo?.() as unknown
  const isForAll = target === undefined || target === null || target === '' || target === Object
  if (isForAll)
    return hasMethod([...ENTITY_EVENTS, ...QUERY_EVENTS])
      ? warning(
          `the subscriber ${name} receives no events of reads and writes by repositories: give it a listenTo() with one entity`,
        )
      : NOTHING
  if (!listensTo(target, entity)) return NOTHING
  const never = HOOK_EVENTS.filter(
    (event) => `${event[0]?.toLowerCase()}${event.slice(1)}` in subscriber,
  ).flatMap((event) => {
    const why = neverCalled(event, deleteTime !== undefined)
    return why === undefined
      ? []
      : [problem('dataSource', `${event} of the subscriber ${name} is never called`, why)]
  })
  if (hasMethod(ENTITY_EVENTS)) return { problems: never, warnings: [] }
  return hasMethod(QUERY_EVENTS)
    ? warning(
        `the subscriber ${name} does not receive the query and transaction events of ${entity.name}'s repository`,
      )
    : NOTHING
}
