import type { DataSource } from 'typeorm'
import { CHANGES } from '../../../../decorators/emits.js'
import { isResource, resourceModel, type ResourceModel } from '../../../resource/resource-model.js'
import { editDistance } from '../../../text/edit-distance.js'
import { didYouMean, nearestNames } from '../../../text/nearest-names.js'
import { shownValue } from '../../../text/shown-value.js'

/** The parts of a resource that determine its events. */
export type KnownResource = Pick<ResourceModel, 'deleteTime' | 'entity' | 'events' | 'type'>

/** Returns the resources of a DataSource. Empty before it is initialized. */
export const knownResources = ({ entityMetadatas = [] }: Partial<DataSource>): readonly KnownResource[] =>
  entityMetadatas.flatMap(({ target }) => (isResource(target) ? [resourceModel(target)] : []))

/**
 * Returns why a subject never matches the change of a resource. `emit` and other processes may use any
 * resource and verb, so an unknown name is only a problem if it resembles a known one.
 *
 * @param models - the resources of the consumer's database.
 * @param isStream - true if events of other processes may arrive.
 */
export function subjectProblems(
  { resource, verb }: { readonly resource?: string; readonly verb?: string },
  models: readonly KnownResource[],
  isStream: boolean,
): readonly string[] {
  const known = isStream ? models.filter(({ events }) => events !== undefined) : models
  if (resource === undefined) {
    const emitted = new Set(known.flatMap(emittedBy))
    const isForeign = emitted.size === 0 || (isStream && isChange(verb))
    return isForeign ? [] : verbProblems('no resource of this process emits', verb, emitted)
  }
  const model = known.find(({ type }) => type === resource)
  const types = known.map(({ type }) => type)
  if (model === undefined)
    return nearestNames(resource, types).length === 0
      ? []
      : [problem(`${shownValue(resource)} is not a resource type${didYouMean(resource, types)}`)]
  const { events, entity } = model
  if (events !== undefined)
    return verbProblems(`${entity.name} does not emit`, verb, new Set(emittedBy(model)))
  return verb === undefined || isChange(verb) || resemblesChange(verb)
    ? [problem(`${entity.name} has no @Emits(): add it`)]
    : []
}

const emittedBy = ({ deleteTime, events }: KnownResource): string[] =>
  [...(events?.on ?? [])].filter((kind) => kind !== 'undeleted' || deleteTime !== undefined)

const verbProblems = (
  who: string,
  verb: string | undefined,
  emitted: ReadonlySet<string>,
): readonly string[] =>
  verb === undefined || emitted.has(verb) || !(isChange(verb) || resemblesChange(verb))
    ? []
    : [problem(`${who} ${shownValue(verb)}${didYouMean(verb, emitted)}`)]

const problem = (text: string): string =>
  `subject: ${text}${text.endsWith('?') ? '' : '.'} If emit() writes these events, set subjectCheck: 'off'`

const isChange = (verb: string | undefined): boolean => CHANGES.some((kind) => kind === verb)

/**
 * Returns true for `create` or `Created`. Only one typo is allowed, because otherwise an emitted verb like
 * `merged` would count as a misspelled `purged`.
 */
const resemblesChange = (verb: string): boolean =>
  CHANGES.some((kind) => editDistance(verb.slice(0, 20).toLowerCase(), kind) <= 1)
