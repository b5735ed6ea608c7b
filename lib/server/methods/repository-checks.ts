import { inEntity, problem, type Problem } from '../../errors.js'
import type { Repository } from '../../persistence/contract/repository.js'
import { isOverridden } from '../../persistence/repository/repository-view.js'
import type { Authorizer } from '../authz/authorizer.js'
import { typeOf } from '../authz/resource-template.js'
import type { RuleSet } from '../authz/rules.js'
import { pathOf } from '../chain/method.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Registry } from './registry.js'

/** The findings about repositories. Each warning names its resource. */
export interface RepositoryFindings {
  /** The problems that prevent the repositories from being served. */
  readonly problems: readonly Problem[]
  readonly warnings: readonly ServedWarning[]
}

/** A warning that does not prevent startup. */
export interface ServedWarning {
  readonly entity: string
  /** The resource type. */
  readonly resource: string
  readonly text: string
}

export async function repositoryFindings(
  repositories: Iterable<Repository<object>>,
  registry: Registry,
  limits: { readonly maxTenantConnections: number },
): Promise<RepositoryFindings> {
  const problems: Problem[] = []
  const reported = new Map<string, ServedWarning>()
  const asked = [...new Set(repositories)].map(async (repository) => ({
    repository,
    findings: (await repository.startUpCheck?.(limits)) ?? { problems: [], warnings: [] },
  }))
  for (const { repository, findings } of await Promise.all(asked)) {
    const { model } = repository
    const { problems: found, warnings, unfilled = [], unrestorable = [] } = findings
    problems.push(...inEntity(model.entity, found, true))
    const creates = registry.standardMethods(model, 'create').filter((one) => one.repository === repository)
    if (creates.some(({ isOwn }) => !isOwn) && !isOverridden(repository, 'create'))
      problems.push(...inEntity(model.entity, unfilled, true))
    const undeletes = registry.standardMethods(model, 'undelete')
    if (undeletes.some((one) => one.repository === repository))
      problems.push(...inEntity(model.entity, unrestorable, true))
    // All repositories of a DataSource report its warnings.
    for (const text of [...tenancyWarnings(model), ...warnings])
      if (!reported.has(text)) reported.set(text, { entity: model.entity.name, resource: model.type, text })
  }
  return { problems, warnings: [...reported.values()] }
}

/** Returns a problem for each repository that cannot apply row-level decisions. */
export const rowAccessProblems = (
  { decidesByRow }: Authorizer,
  repositories: readonly Repository<object>[],
): Problem[] =>
  decidesByRow !== true
    ? []
    : [...new Set(repositories)]
        .filter(({ carriesDecisions }) => carriesDecisions !== true)
        .map(({ model, constructor }) =>
          problem(
            'repository',
            `${constructor.name}, the repository of ${model.type}, cannot restrict rows, but the authorizer makes row-level decisions`,
            'extend TypeormRepository or MemoryRepository, which can',
          ),
        )

/**
 * Returns a problem for each service whose rules name a resource type other than its repository's. Cascades
 * and references request permissions by the repository's type.
 */
export const ruleTypeProblems = (registry: Registry, rules: RuleSet): Problem[] =>
  registry.repositories().flatMap(({ model: { entity, type }, model }) => {
    const differing = registry.allStandard(model).flatMap(({ desc }) => {
      const rule = rules.declared(pathOf(desc))
      const named = typeOf(rule?.resource ?? '')
      return rule === undefined || rule.public === true || named === type ? [] : [{ desc, named }]
    })
    return [...new Set(differing.map(({ desc, named }) => `${desc.parent.typeName} ${named}`))].map((one) => {
      const [service = '', named = ''] = one.split(' ')
      const methods = differing.filter(({ desc, named: its }) => `${desc.parent.typeName} ${its}` === one)
      return problem(
        'rule',
        `${service}: the rules of ${methods.map(({ desc }) => desc.name).join(', ')} name the resource ${JSON.stringify(named)}, but the type of the entity ${entity.name} is ${JSON.stringify(type)}`,
        `write resource: ${JSON.stringify(type)} in the rules, or give ${entity.name} the type of the rules with @Resource({ type })`,
      )
    })
  })

const tenancyWarnings = (model: ResourceModel): string[] => {
  const { entity, key, tenant, tenantInKey, existing, strategy } = model
  if (tenant === undefined || tenantInKey) return []
  return [
    key.isIdentity === true
      ? `${entity.name} uses numbers that the database generates for all tenants as keys: the ${key.proto} of a new resource reveals to each tenant how many the others have created; @PrimaryGeneratedColumn('uuid') reveals nothing`
      : `${entity.name} belongs to tenants but has only ${key.proto} as its key: a create with another tenant's key returns ALREADY_EXISTS, which reveals that the key exists; ${existing || strategy !== undefined ? `a primary key of ${tenant.property} and ${key.property}, by @PrimaryColumn() on both and in the table, reveals nothing` : 'write @TenantScoped(), which makes the tenant a part of the key'}`,
  ]
}
