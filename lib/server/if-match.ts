import type { RequestContext } from '../context.js'
import { ErrPreconditionFailed, InvalidArgument } from '../errors.js'
import type { Repository, WriteOptions } from '../persistence/repository.js'
import type { IfMatch } from './call.js'

/**
 * Reads an `If-Match` value (RFC 9110 section 13.1.1): quoted etags, weak ones, lists and `*`. A bare word, as gRPC clients
 * and resources carry it, is an etag too.
 * @param field - what an error names.
 * @throws InvalidArgument when the value is none of these.
 */
export const parseIfMatch = (value: string, field: string): IfMatch => {
  const text = value.trim()
  if (text === '*') return { any: true, etags: [] }
  if (!/[",\s]/.test(text) && text !== '') return { any: false, etags: [text] }
  const etags = [...text.matchAll(ENTITY_TAG)].map(([, weak, opaque = '']) =>
    weak === undefined ? opaque : `W/"${opaque}"`,
  )
  if (etags.length === 0 || !LIST.test(text))
    throw new InvalidArgument(field, 'is not a list of quoted etags')
  return { any: false, etags }
}

/** Whether two conditions ask for the same. */
export const sameIfMatch = (a: IfMatch, b: IfMatch): boolean =>
  a.any === b.any && a.etags.length === b.etags.length && a.etags.every((etag) => b.etags.includes(etag))

const ENTITY_TAG = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g
const LIST = /^\s*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"\s*(?:,\s*|$))+$/

interface Conditions {
  readonly ifMatch: IfMatch | undefined
  readonly context: RequestContext
}

/** The precondition as a repository takes it: one etag, the current one where several were named. */
export const conditional = async (
  repository: Repository<object>,
  key: string,
  { ifMatch, context }: Conditions,
): Promise<WriteOptions> => {
  const [etag, another] = ifMatch?.etags ?? []
  if (ifMatch === undefined || ifMatch.any || etag === undefined) return { context }
  if (another === undefined) return { context, ifMatch: etag }
  const { model } = repository
  const entity = (await repository.get(key, { context })) as Record<string, unknown>
  const current = model.etag === undefined ? undefined : entity[model.etag.property]
  const match = ifMatch.etags.find((one) => one === current)
  if (match === undefined) throw ErrPreconditionFailed.etag()
  // The write compares it again, in its own statement.
  return { context, ifMatch: match }
}
