import { ANONYMOUS, type Principal } from '../../context.js'
import { InvalidArgument } from '../../errors.js'
import type { Metadata } from '../../call.js'
import { MAX_GROUPS } from './claims.js'

/**
 * Builds a principal from the headers `account-id`, `subject` and `groups` (repeated, comma-separated, or
 * both). Any client can send these headers, so `serve` accepts this function in development only.
 *
 * @example
 * ```ts
 * import { devPrincipal, ServerBuilder } from 'ashlar'
 *
 * // NODE_ENV=development: the call's metadata is `account-id: acme`, `subject: ann`
 * const server = new ServerBuilder({ grpcAddr: ':9090', principalFunc: devPrincipal }).build()
 * ```
 */
export const devPrincipal = ({ metadata }: { readonly metadata: Metadata }): Principal => {
  const tenant = metadata.get('account-id') ?? ''
  const subject = metadata.get('subject') ?? ''
  const groups: string[] = []
  for (const value of metadata.getAll('groups'))
    for (const group of value.split(',')) if (group.trim() !== '') groups.push(group.trim())
  if (groups.length > MAX_GROUPS)
    throw new InvalidArgument('groups', `has ${groups.length} entries: name at most ${MAX_GROUPS}`)
  if (tenant === '' && subject === '' && groups.length === 0) return ANONYMOUS
  return { subject, tenant, groups, scopes: [] }
}
