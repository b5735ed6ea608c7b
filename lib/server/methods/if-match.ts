import type { RequestContext } from '../../context.js'
import { ErrPreconditionFailed, InvalidArgument } from '../../errors.js'
import type { Repository, WriteOptions } from '../../persistence/contract/repository.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { IfMatch } from '../../call.js'

/**
 * Reads an `If-Match` value (RFC 9110 sections 5.6.1 and 13.1.1): quoted etags and `*`. Empty elements of the list are skipped,
 * and so are weak etags, which never match strongly: what is left of them, or of an empty value, matches nothing. A bare word,
 * as gRPC clients and resources carry it, is an etag too.
 * @param field - what an error names.
 * @throws InvalidArgument when the value is none of these.
 */
export const parseIfMatch = (value: string, field: string): IfMatch => {
  const text = value.trim()
  if (text === '*') return { any: true, etags: [] }
  if (!/[",\s]/.test(text) && text !== '') return { any: false, etags: [text] }
  const etags = new Set<string>()
  let count = 0
  for (let at = 0; at < text.length; at = ELEMENT.lastIndex) {
    ELEMENT.lastIndex = at
    const [element, weak, opaque] = ELEMENT.exec(text) ?? []
    if (element === undefined) throw new InvalidArgument(field, 'is not a list of quoted etags')
    if (opaque === undefined) continue
    count++
    if (weak === undefined) etags.add(opaque)
  }
  if (count > MAX_ETAGS) throw new InvalidArgument(field, `has ${count} etags: name at most ${MAX_ETAGS}`)
  return { any: false, etags: [...etags] }
}

/** Entity tags of one condition. */
export const MAX_ETAGS = 100

/** The etag that a resource inside of a request carries, as a repository takes it; undefined when any will do. */
export const etagOfResource = (value: string, field: string): string | undefined => {
  if (value === '') return undefined
  const { any, etags } = parseIfMatch(value, field)
  const [etag = NO_ETAG, another] = etags
  if (another !== undefined) throw new InvalidArgument(field, 'names several etags: a resource has one')
  return any ? undefined : etag
}

/** Whether two conditions ask for the same. */
export const sameIfMatch = (a: IfMatch, b: IfMatch): boolean =>
  a.any === b.any && a.etags.length === b.etags.length && a.etags.every((etag) => b.etags.includes(etag))

/** One element of the list, empty or not, with the comma behind it. */
const ELEMENT = /[\t ]*(?:(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[\t ]*)?(?:,|$)/y

/** As a repository takes it: what no entity has, for a condition that names nothing. */
const NO_ETAG = ''

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
  if (ifMatch === undefined || ifMatch.any) return { context }
  const [etag = NO_ETAG, another] = ifMatch.etags
  if (another === undefined) return { context, ifMatch: etag }
  const current = etagOf(repository.model, await repository.get(key, { context }))
  // The write compares it again, in its own statement.
  return { context, ifMatch: ifMatch.etags.find((one) => one === current) ?? NO_ETAG }
}

/** Each precondition in its turn, for an entity that cannot be read beforehand, until one holds. */
export const firstThatHolds = async <R>(
  { ifMatch, context }: Conditions,
  attempt: (options: WriteOptions) => Promise<R>,
): Promise<R> => {
  if (ifMatch === undefined || ifMatch.any) return attempt({ context })
  const [first = NO_ETAG, ...others] = ifMatch.etags
  let outcome = attempt({ context, ifMatch: first })
  for (const etag of others)
    outcome = outcome.catch((error: unknown) => {
      if (error instanceof ErrPreconditionFailed) return attempt({ context, ifMatch: etag })
      throw error
    })
  return outcome
}

/** @throws {@link ErrPreconditionFailed} when the entity that was read is not what the condition asks for. */
export const checkEtag = (model: ResourceModel, entity: object, ifMatch: IfMatch | undefined): void => {
  if (ifMatch === undefined || ifMatch.any) return
  const current = etagOf(model, entity)
  if (typeof current !== 'string' || current === NO_ETAG || !ifMatch.etags.includes(current))
    throw ErrPreconditionFailed.etag()
}

const etagOf = ({ etag }: ResourceModel, entity: object): unknown =>
  etag === undefined ? undefined : (entity as Readonly<Record<string, unknown>>)[etag.property]
