import type { DescMethod } from '@bufbuild/protobuf'
import { pathOf } from './chain/method.js'
import { ownFunction } from './methods/handler-of.js'
import { wrapOf } from './methods/wrapped.js'
import { sharedWrites } from './row-access/tenantless-writes.js'
import type { Rule } from './authz/rules.js'
import type { Server } from './server.js'
import { type MethodShape, shapesIn } from './openapi/method-shape.js'

/** A method as the checks of a server use it. */
export interface ServedMethod extends MethodShape {
  readonly desc: DescMethod
  /** gRPC full method name. */
  readonly path: string
  readonly rule: Rule | undefined
  /** True if only an application function implements it. */
  readonly isOwn: boolean
  /** True if it may write rows that every tenant reads. */
  readonly writesShared: boolean
}

/** Every method of every registered service. */
export const servedMethods = (server: Server): readonly ServedMethod[] => {
  const rules = new Map(server.rules().map((rule) => [rule.method, rule]))
  const writes = new Set(
    sharedWrites(server.services(), (path) => rules.get(path)).map(({ method }) => method),
  )
  return [...server.services()].flatMap(([service, { repository, implementation }]) => {
    const shapeOf = shapesIn(service, repository)
    return service.methods.map((desc): ServedMethod => {
      const path = pathOf(desc)
      const own = ownFunction(desc, implementation)
      const isOwn = own !== undefined && wrapOf(own) === undefined
      return { desc, path, rule: rules.get(path), isOwn, writesShared: writes.has(path), ...shapeOf(desc) }
    })
  })
}
