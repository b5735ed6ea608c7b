import { problem, type Problem } from '../../errors.js'
import type { DescField, DescMessage, DescMethod } from '@bufbuild/protobuf'
import type { Repository } from '../../persistence/contract/repository.js'
import { isSetByServer } from '../../resource/behavior/field-behavior.js'
import { fieldNamed } from '../../resource/messages/field-readers.js'
import { isOwning, type Relation } from '../../resource/relations/relation.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'
import { resourceTemplate } from '../authz/resource-template.js'
import type { RuleSet } from '../authz/rules.js'
import { pathOf } from '../chain/method.js'
import { isOverridden } from '../../persistence/repository/repository-view.js'
import { withContextInOverrides } from '../methods/overrides.js'
import type { Registry } from '../methods/registry.js'

/** A message field that a read mask can fill with the resource to which another field refers. */
export interface ReadableRelation {
  readonly field: DescField
  /** Contains the key of the other resource. */
  readonly reference: DescField
  readonly target: DescMessage
  readonly repository: Repository<object>
  /** The method whose rule decides who may read the resource. */
  readonly get: GetMethod
}

export interface GetMethod {
  readonly desc: DescMethod
  readonly key: DescField
}

/** The readable relations by message type name, and problems found in their declarations. */
export interface ReadableRelations {
  readonly byMessage: ReadonlyMap<string, readonly ReadableRelation[]>
  readonly problems: readonly Problem[]
}

/** Returns the relations that the registered resources' messages can show. */
export function readableRelations(registry: Registry, rules: RuleSet): ReadableRelations {
  const byMessage = new Map<string, ReadableRelation[]>()
  const problems: Problem[] = []
  for (const { model } of registry.repositories())
    for (const relation of model.relations) {
      const field = model.message && fieldNamed(model.message, relation.proto)
      if (model.message === undefined || field === undefined) continue
      const found = relationIn(model, relation, field, registry, rules)
      if (typeof found === 'string')
        problems.push(problem('reference', `${field.name} of ${model.message.typeName} ${found}`))
      else byMessage.set(model.message.typeName, [...(byMessage.get(model.message.typeName) ?? []), found])
    }
  return { byMessage, problems }
}

/** Returns the relation, or a sentence that describes its problem. */
function relationIn(
  model: ResourceModel,
  relation: Relation,
  field: DescField,
  registry: Registry,
  rules: RuleSet,
): ReadableRelation | string {
  if (!isOwning(relation))
    return 'contains resources that refer to this one, of which there may be any number: remove it, and list the other resource by the field that refers to this one'
  const target = resourceModel<object>(relation.target()).message
  if (target === undefined || field.fieldKind !== 'message' || field.message.typeName !== target.typeName)
    return `is not a ${target?.typeName ?? 'resource message'}: give it the type of the resource that ${relation.property} refers to`
  if (!isSetByServer(field))
    return 'is read through a relation and never written: mark it (google.api.field_behavior) = OUTPUT_ONLY'
  const reference = fieldNamed(model.message as DescMessage, relation.reference.proto)
  if (reference === undefined || !relation.reference.exposed)
    return `has no field with its reference: add string ${relation.reference.proto} to the message, and the property ${relation.reference.property} to ${model.entity.name}`
  const repository = registry.repositories().find((one) => one.model.message?.typeName === target.typeName)
  const get = repository && getMethodOf(repository, registry, rules)
  if (repository === undefined || get === undefined)
    return `cannot be read: no service has a Get of ${target.typeName}, whose rule defines who may read it: register one with its repository`
  if (typeof get === 'string') return `cannot be read: ${get}`
  return { field, reference, target, repository: withContextInOverrides(repository), get }
}

/**
 * Returns the Get method of a resource if only its repository decides what is returned, and otherwise a
 * sentence that says why not.
 */
function getMethodOf(
  repository: Repository<object>,
  registry: Registry,
  rules: RuleSet,
): GetMethod | string | undefined {
  const found: (GetMethod | string)[] = []
  for (const { desc, method, isOwn } of registry.standardMethods(repository.model, 'get'))
    found.push(problemOf(desc, method.key, isOwn, repository, rules) ?? { desc, key: method.key })
  const [first, ...others] = found
  if (typeof first !== 'object') return first
  const other = others.find(
    (one) => typeof one === 'string' || !rules.agree(pathOf(one.desc), pathOf(first.desc)),
  )
  if (typeof other === 'object')
    return `${pathOf(first.desc)} and ${pathOf(other.desc)} read the same resource by different rules: give them one`
  return other ?? first
}

const problemOf = (
  desc: DescMethod,
  key: DescField,
  isOwn: boolean,
  repository: Repository<object>,
  rules: RuleSet,
): string | undefined => {
  const path = pathOf(desc)
  if (isOwn)
    return `${path} has its own function, which reading it beside another resource would bypass: leave ${desc.localName} to the repository, or remove the field`
  if (isOverridden(repository, 'get') && !isOverridden(repository, 'batchGet'))
    return `${repository.constructor.name} overrides get but not batchGet, which would bypass the override: override batchGet as well, or remove the field`
  const resource = rules.of(path)?.resource ?? ''
  const stray = resourceTemplate(resource, desc.input).fields.find((name) => name !== key.name)
  if (stray !== undefined || (resource.includes('{') && repository.model.name !== undefined))
    return `the rule of ${path} uses {${stray ?? key.name}}, which no caller sends with the key: name the resource by its key alone, or remove the field`
  return undefined
}
