import { create } from '@bufbuild/protobuf'
import { CODES } from '../../errors.js'
import type { ServedMethod } from '../../server/served-methods.js'
import type { Headers, Outcome } from './wire/listener-clients.js'
import { boundPattern } from './wire/http-request.js'
import { requestFor } from './world/requests.js'
import type { Subject } from './world/subjects.js'
import { newKey, type Row, type World } from './world/world.js'

/** A caller without grants. */
export interface Stranger {
  readonly who: string
  readonly headers: Headers
  /** True if Unauthenticated is also correct, because the caller has no identity. */
  readonly isAnonymous: boolean
}

/**
 * Calls every method that is not public as strangers. Each call must be denied before anything else is
 * checked.
 */
export const checkDenial = async (
  { probe, a }: World,
  methods: readonly ServedMethod[],
  strangers: readonly Stranger[],
  openMethods: readonly string[],
): Promise<void> => {
  for (const { desc, path, rule } of methods) {
    if (rule === undefined || rule.public === true) continue
    for (const { who, headers, isAnonymous } of strangers) {
      if (!isAnonymous && openMethods.includes(path)) continue
      const request = create(desc.input, bound(desc))
      for (const outcome of await probe.sendAll(desc, request, { headers, mustNotSee: a.mustNotSee }))
        if (!isDenied(outcome))
          probe.findings.add('denial', path, `${who} gets ${nameOf(outcome)}`, outcome.transport)
    }
  }
}

/**
 * Checks that a caller with all permissions in one tenant may not write rows of all tenants merely because of
 * them.
 */
export const checkSharedWrites = async (
  { probe }: World,
  methods: readonly ServedMethod[],
  headers: Headers,
): Promise<void> => {
  for (const { desc, path } of methods)
    for (const outcome of await probe.sendAll(desc, create(desc.input, bound(desc)), {
      headers,
      mustNotSee: undefined,
    }))
      if (!isDenied(outcome))
        probe.findings.add(
          'isolation',
          path,
          'callers of any tenant can write shared resources: bind the role to the tenant that maintains them, or name the method in `sharedWrites`',
          outcome.transport,
        )
}

/** Checks that a denial is the same for existing and for missing resources (AIP-211). */
export const checkSilence = async (
  { probe, a }: World,
  subject: Subject,
  row: Row,
  strangers: readonly Stranger[],
): Promise<void> => {
  const get = subject.of('get')
  if (get === undefined || get.rule?.public === true) return
  for (const listener of probe.listeners)
    for (const { who, headers } of strangers) {
      const ask = (key: string) =>
        probe.send(listener, get.desc, requestFor(a, subject, get, { key }), {
          headers,
          mustNotSee: undefined,
        })
      const [there, missing] = [await ask(row.key), await ask(newKey(subject, a))]
      if (there === undefined || missing === undefined || !isDenied(there)) continue
      if (there.code !== missing.code || there.message !== missing.message)
        probe.findings.add(
          'denial',
          get.path,
          `${who} can distinguish existing resources from missing ones`,
          listener.name,
        )
    }
}

const isDenied = ({ code }: Outcome): boolean =>
  code === CODES.PERMISSION_DENIED || code === CODES.UNAUTHENTICATED

export const nameOf = ({ code }: Pick<Outcome, 'code'>): string =>
  Object.entries(CODES).find(([, number]) => number === code)?.[0] ?? String(code)

/** Returns a value for each string field of the request, to fill HTTP paths. */
const bound = (desc: ServedMethod['desc']): Record<string, string> =>
  Object.fromEntries(
    desc.input.fields
      .filter((field) => field.fieldKind === 'scalar' && field.oneof === undefined && field.proto.type === 9)
      .filter(({ name }) => !['request_id', 'page_token', 'filter', 'order_by', 'etag'].includes(name))
      .map(({ name, localName }) => [
        localName,
        (boundPattern(desc, name) ?? '*').replaceAll(/\*+/g, 'check'),
      ]),
  )
