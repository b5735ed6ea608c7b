import { Metadata } from 'nice-grpc'
import type { ServedMethod } from '../../../server/served-methods.js'
import type { TestCaller, TestServer } from '../../harness/test-server.js'
import type { Subject } from './subjects.js'
import type { Side } from './world.js'

/** The tenant for which a `prepare` function creates state. */
export interface Preparation {
  readonly tenant: string
  /** Returns a typed gRPC client whose caller belongs to the tenant and has every permission. */
  readonly client: TestCaller['client']
  /** For a method: the keys of the resources in its request, in the order of its request function. */
  readonly keys: readonly string[]
}

/** Functions by full gRPC method name, or by the full name of a resource's message. */
export type Preparations = Readonly<Record<string, (preparation: Preparation) => Promise<unknown>>>

/** Creates the state that a method or a resource needs for a tenant. */
export type Prepare = (name: string, side: Side, keys?: readonly string[]) => Promise<void>

/** @throws TypeError for a name that is neither a method nor a resource. */
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

/** The timeout of a function in milliseconds. */
const LONGEST_MS = 60_000

export const preparing =
  (preparations: Preparations, server: TestServer, longestMs = LONGEST_MS): Prepare =>
  async (name, { tenant, headers }, keys = []) => {
    const prepare = Object.hasOwn(preparations, name) ? preparations[name] : undefined
    if (prepare === undefined) return
    const caller = server.as({ headers, metadata: new Metadata(headers) })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new TypeError(`it took more than ${longestMs / 1000} s`)), longestMs)
    })
    try {
      await Promise.race([prepare({ tenant, client: (service) => caller.client(service), keys }), late])
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new TypeError(`prepare: the function of ${name} failed: ${reason}`, { cause })
    } finally {
      clearTimeout(timer)
    }
  }
