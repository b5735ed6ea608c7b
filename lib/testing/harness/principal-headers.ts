import { Metadata } from 'nice-grpc'
import type { Principal } from '../../context.js'

/** The identity of a caller in the form that `devPrincipal` reads. */
export interface Identity {
  /** The headers for `fetch`. */
  readonly headers: Readonly<Record<string, string>>
  /** For the options of a gRPC call: `client.getWidget(request, principalHeaders({ tenant: 'acme' }))`. */
  readonly metadata: Metadata
}

/** The parts of a principal that headers can contain. */
export type TestPrincipal = Partial<Pick<Principal, 'subject' | 'tenant' | 'groups'>>

const CARRIED = /^[\x20-\x7e]*$/

/**
 * Returns the headers and metadata of a principal.
 * @throws RangeError for a name that a header cannot contain, or for a group with a comma.
 */
export function principalHeaders({ subject = '', tenant = '', groups = [] }: TestPrincipal): Identity {
  const wrong =
    [subject, tenant, ...groups].find((name) => !CARRIED.test(name) || name !== name.trim()) ??
    groups.find((name) => name.includes(','))
  if (wrong !== undefined) throw new RangeError(`${JSON.stringify(wrong)} cannot be sent in a header`)
  const said = { 'account-id': tenant, subject, groups: groups.join(',') }
  const headers = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== ''))
  return { headers, metadata: new Metadata(headers) }
}
