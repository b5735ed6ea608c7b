import { create, type Message } from '@bufbuild/protobuf'
import { CODES } from '../../errors.js'
import type { ServedMethod } from '../../server/served-methods.js'
import { newCanary } from './leaks/canary.js'
import { nameOf } from './denial.js'
import { without } from './isolation.js'
import type { World } from './world/world.js'

const SERVICE = '/google.longrunning.Operations/'
/** Methods that name an operation. The last one removes it. */
const NAMING = ['GetOperation', 'WaitOperation', 'CancelOperation', 'DeleteOperation'] as const

/** Returns true for methods of long-running operations, which name no resource of the service. */
export const isOfOperations = ({ path }: Pick<ServedMethod, 'path'>): boolean => path.startsWith(SERVICE)

/** Checks that one tenant's operations appear not to exist for the other tenant. */
export const checkOperations = async (world: World, methods: readonly ServedMethod[]): Promise<void> => {
  const served = new Map(
    methods.filter(isOfOperations).map((method) => [method.path.slice(SERVICE.length), method]),
  )
  if (served.size === 0) return
  const { probe, a, b } = world
  const { findings, listeners } = probe
  const [owner, other] = probe.operationsOf(b).length > 0 ? [b, a] : [a, b]
  const names = probe.operationsOf(owner)
  const leaveOut = (why: string) => {
    for (const { path } of served.values()) findings.leaveOut(path, why)
  }
  const [newest] = names.slice(-1)
  if (newest === undefined)
    return leaveOut(
      'no call of the check has started an operation: give `requests` of a method that returns one; only its denial was checked',
    )
  const get = served.get('GetOperation')
  const own =
    get &&
    (await probe.sendAll(
      get.desc,
      create(get.desc.input, { name: newest } as Record<string, unknown>),
      owner,
    ))
  if (own?.some(({ code }) => code !== CODES.OK) === true)
    return leaveOut('its own tenant does not get an operation that one of its calls started')
  const keys = [newest, `operations/${newCanary('none-')}`] as const
  for (const listener of listeners) {
    for (const kind of NAMING) {
      const method = served.get(kind)
      if (method === undefined) continue
      const ask = (name: string) =>
        probe.send(
          listener,
          method.desc,
          create(method.desc.input, { name } as Record<string, unknown>),
          other,
        )
      const [foreign, missing] = [await ask(keys[0]), await ask(keys[1])]
      if (foreign === undefined || missing === undefined) continue
      const say = (text: string) => findings.add('isolation', method.path, text, listener.name)
      if (foreign.code === CODES.OK) say("it reaches another tenant's operation")
      else if (foreign.code !== missing.code || without(foreign, keys) !== without(missing, keys))
        say(`another tenant's operation can be distinguished from a missing one: ${nameOf(foreign)}`)
    }
    const list = served.get('ListOperations')
    const listed = list && (await probe.send(listener, list.desc, create(list.desc.input), other))
    if (list !== undefined && namesIn(listed?.response).some((name) => names.includes(name)))
      findings.add('isolation', list.path, "it lists another tenant's operations", listener.name)
  }
}

const namesIn = (response: Message | undefined): readonly string[] =>
  ((response ?? {}) as { readonly operations?: readonly { readonly name: string }[] }).operations?.map(
    ({ name }) => name,
  ) ?? []
