import { Metadata } from 'nice-grpc'
import type { ServedMethod } from '../../../server/served-methods.js'
import type { TestCaller, TestServer } from '../../harness/test-server.js'
import type { Subject } from './subjects.js'
import type { Side } from './world.js'

/** The tenant whose state a function of `prepare` creates. */
export interface Preparation {
  readonly tenant: string
  /** A typed gRPC client of a caller of the tenant who may do everything. */
  readonly client: TestCaller['client']
  /** The keys of the resources that the request will name, in the order of its function; of a method. */
  readonly keys: readonly string[]
}

/** By gRPC full method name, or by the full name of a resource's message. */
export type Preparations = Readonly<Record<string, (preparation: Preparation) => Promise<unknown>>>

/** Creates the state that a method or a resource needs for a tenant. */
export type Prepare = (name: string, side: Side, keys?: readonly string[]) => Promise<void>

/** @throws TypeError for a name that no method and no resource has. */
export const checkPreparations = (
  preparations: Preparations,
  methods: readonly ServedMethod[],
  subjects: readonly Subject[],
): void => {
  for (const name of Object.keys(preparations))
    if (
      !methods.some(({ path }) => path === name) &&
      !subjects.some(({ message }) => message.typeName === name)
    )
      throw new TypeError(
        `prepare: the server has no method and no resource ${name}: write /package.Service/Method or package.Message`,
      )
}

export const preparing =
  (preparations: Preparations, server: TestServer): Prepare =>
  async (name, { tenant, headers }, keys = []) => {
    const prepare = Object.hasOwn(preparations, name) ? preparations[name] : undefined
    if (prepare === undefined) return
    const caller = server.as({ headers, metadata: new Metadata(headers) })
    try {
      await prepare({ tenant, client: (service) => caller.client(service), keys })
    } catch (cause) {
      throw new TypeError(`prepare: the function of ${name} failed: ${(cause as Error).message}`, { cause })
    }
  }
