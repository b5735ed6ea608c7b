import type { DescMethod, DescService } from '@bufbuild/protobuf'
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt'
import type { Repository } from '../../persistence/contract/repository.js'
import { isGetAlone } from '../../resource/messages/http-paths.js'
import type { SharedWrite } from '../authz/authorizer.js'
import { typeOf } from '../authz/resource-template.js'
import type { Rule } from '../authz/rules.js'
import { pathOf } from '../chain/method.js'
import { standardMethod } from '../methods/standard-method.js'

type Services = Iterable<readonly [DescService, { readonly repository?: Repository<object> | undefined }]>

/**
 * Returns the methods that write resources of all tenants, with their rules. A custom method counts if its
 * service has such a resource or its rule names one, unless it is read-only by NO_SIDE_EFFECTS or because all
 * its HTTP rules are GETs.
 */
export const sharedWrites = (
  services: Services,
  ruleOf: (path: string) => Rule | undefined,
): readonly SharedWrite[] => {
  const all = [...services]
  const types = new Set(
    all.flatMap(([service, { repository }]) =>
      repository !== undefined && isShared(repository) ? typesIn(service, repository, ruleOf) : [],
    ),
  )
  if (types.size === 0) return []
  return all.flatMap(([service, { repository }]) =>
    service.methods.flatMap((desc): SharedWrite[] => {
      const method = pathOf(desc)
      const rule = ruleOf(method)
      if (rule === undefined || rule.public === true) return []
      const { verb = '', resource = '' } = rule
      const kind = repository && kindOf(desc, repository)
      const writes =
        kind === undefined
          ? !onlyReads(desc) &&
            (types.has(typeOf(resource)) || (repository !== undefined && isShared(repository)))
          : isShared(repository as Repository<object>) && !READS.has(kind)
      return writes ? [{ method, verb, resource }] : []
    }),
  )
}

const READS: ReadonlySet<string> = new Set(['get', 'list', 'batchGet'])

/** Returns true if the resource has no tenant. */
const isShared = ({ model }: Repository<object>): boolean => model.tenant === undefined

const typesIn = (
  service: DescService,
  repository: Repository<object>,
  ruleOf: (path: string) => Rule | undefined,
): readonly string[] => [
  repository.model.type,
  ...service.methods.flatMap((desc) =>
    kindOf(desc, repository) === undefined ? [] : typeOf(ruleOf(pathOf(desc))?.resource ?? ''),
  ),
]

/** Returns the kind of standard method on the repository's resource; undefined for other methods. */
const kindOf = (desc: DescMethod, { model: { message, name } }: Repository<object>): string | undefined => {
  if (message === undefined) return undefined
  const standard = standardMethod(desc, message, name)
  return 'differs' in standard ? undefined : standard.kind
}

const onlyReads = (desc: DescMethod): boolean =>
  desc.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS || isGetAlone(desc)
