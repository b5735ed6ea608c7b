import type { Repository } from '../../persistence/contract/repository.js'
import type { Logger } from '../observability/logger.js'

/** What keeps repositories from being served, each said in words; what is only worth knowing is logged. */
export async function repositoryProblems(
  repositories: Iterable<Repository<object>>,
  logger: Logger,
): Promise<string[]> {
  const problems: string[] = []
  const warned = new Set<string>()
  for (const repository of new Set(repositories)) {
    const { model } = repository
    const { problems: found, warnings } = (await repository.startUpCheck?.()) ?? {
      problems: [],
      warnings: [],
    }
    problems.push(...found.map((problem) => `${model.entity.name}: ${problem}`))
    for (const warning of [...tenancyWarnings(repository), ...warnings]) {
      // What is so of a DataSource, each of its repositories says.
      if (!warned.has(warning)) logger.warn({ resource: model.type }, warning)
      warned.add(warning)
    }
  }
  return problems
}

const tenancyWarnings = ({ model }: Repository<object>): string[] =>
  model.tenant === undefined || model.tenantInKey
    ? []
    : [
        `${model.entity.name} belongs to tenants and is keyed by ${model.key.proto} alone: whoever creates one under a key of another tenant is told ALREADY_EXISTS, and so that it is there; write @TenantScoped(), which makes the tenant a part of the key`,
      ]
