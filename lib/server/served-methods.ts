import type { DescMethod } from '@bufbuild/protobuf'
import { pathOf } from './chain/method.js'
import type { Rule } from './authz/rules.js'
import type { Server } from './server.js'
import { type MethodShape, shapesIn } from './openapi/method-shape.js'

/** A method as a check of the server sees it. */
export interface ServedMethod extends MethodShape {
  readonly desc: DescMethod
  /** gRPC full method name. */
  readonly path: string
  readonly rule: Rule | undefined
}

/** Every method of every registered service. */
export const servedMethods = (server: Server): readonly ServedMethod[] => {
  const rules = new Map(server.rules().map((rule) => [rule.method, rule]))
  return [...server.services()].flatMap(([service, { repository }]) => {
    const shapeOf = shapesIn(service, repository)
    return service.methods.map((desc): ServedMethod => {
      const path = pathOf(desc)
      return { desc, path, rule: rules.get(path), ...shapeOf(desc) }
    })
  })
}
