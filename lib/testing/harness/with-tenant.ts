import { RequestContext } from '../../context.js'

/**
 * Runs `fn` as a caller of a tenant, which is all that a repository requires.
 *
 * @example
 * ```ts
 * import { memoryRepositoryOf } from 'ashlar'
 * import { withTenant } from 'ashlar/testing'
 * import { Widget } from './widget.js'
 *
 * const widgets = new (memoryRepositoryOf(Widget))()
 * const { items } = await withTenant('acme', () => widgets.list())
 * ```
 */
export const withTenant = <T>(tenant: string, fn: () => T): T =>
  RequestContext.as({ tenant, subject: 'test' }, fn)
