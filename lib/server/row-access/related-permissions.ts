import type { ResourceModel } from '../../resource/resource-model.js'
import type { AuthorizedServer } from '../authz/authorizer.js'
import type { Registry } from '../methods/registry.js'

type Permissions = AuthorizedServer['permissions']

const CHANGING = ['delete', 'batchDelete', 'undelete'] as const

/** Returns the permissions that a delete or an undelete requires on related resources. */
export const relatedPermissions = (registry: Registry): Permissions =>
  registry.repositories().flatMap(({ model }) =>
    CHANGING.flatMap((kind) =>
      registry.standardMethods(model, kind).flatMap(({ desc, method, repository }) => {
        const verb = registry.methods().get(desc)?.handler.changesRelated
        if (verb === undefined) return []
        const asked = repository.relatedQuestions?.({ force: method.force !== undefined })
        if (asked === undefined) return []
        return [
          ...permissions(verb, asked[verb]),
          ...permissions('list', verb === 'delete' ? asked.list : []),
        ]
      }),
    ),
  )

const permissions = (verb: string, models: readonly ResourceModel[]): Permissions =>
  models.map(({ type }) => ({ verb, resource: type }))
