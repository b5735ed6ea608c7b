import type { DataSource } from 'typeorm'
import type { ResourceModel } from '../../../resource/resource-model.js'
import { resourcesOf } from '../../schema/resources-in.js'
import { familyOf, type Member } from '../rules/family.js'

const known = new WeakMap<DataSource, ReadonlyMap<ResourceModel, Member>>()

/** Returns the related resources of an initialized DataSource, by model. */
export function membersOf(dataSource: DataSource): ReadonlyMap<ResourceModel, Member> {
  let members = known.get(dataSource)
  if (members === undefined) known.set(dataSource, (members = familyOf(resourcesOf(dataSource))))
  return members
}

/**
 * Returns the resources that relations connect with a resource, in either direction and at any depth, without
 * the resource itself.
 */
export function relativesOf(dataSource: DataSource, model: ResourceModel): readonly ResourceModel[] {
  const members = membersOf(dataSource)
  const found = new Set([model])
  for (const one of found) {
    const { parents = [], children = [] } = members.get(one) ?? {}
    for (const { parent } of parents) found.add(parent.model)
    for (const { child } of children) found.add(child.model)
  }
  found.delete(model)
  return [...found]
}
