import type { DataSource } from 'typeorm'
import type { ResourceModel } from '../../../resource/resource-model.js'
import { resourcesOf } from '../../schema/resources-in.js'
import { familyOf, type Member } from '../rules/family.js'

const known = new WeakMap<DataSource, ReadonlyMap<ResourceModel, Member>>()

/** By resource, of all entities of an initialized DataSource. */
export function membersOf(dataSource: DataSource): ReadonlyMap<ResourceModel, Member> {
  let members = known.get(dataSource)
  if (members === undefined) known.set(dataSource, (members = familyOf(resourcesOf(dataSource))))
  return members
}
