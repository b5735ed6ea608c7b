import type { DescMethod } from '@bufbuild/protobuf'
import { problem, type Problem } from '../../errors.js'
import type { Repository } from '../../persistence/contract/repository.js'
import { type AnyFunction, type Handler, restrictedToOf, userHandler } from '../chain/handler.js'
import { unkeptImmutable } from './mask/immutable-fields.js'
import { withContextInOverrides } from './overrides.js'
import { mayRepeat, repositoryHandler } from './repository-handler.js'
import { standardMethod } from './standard-method.js'
import { type ListLimits, totalProblem } from './total-size.js'
import { wrapOf } from './wrapped.js'
import { wrappedHandler, wrapProblem } from './wrapped-handler.js'

/** The parts that implement a service's methods. */
export interface ServiceParts {
  readonly repository?: Repository<object> | undefined
  readonly implementation?: object | undefined
}

/** Returns the implementation's function for a method; undefined if there is none. */
export function ownFunction(
  { localName }: DescMethod,
  implementation: ServiceParts['implementation'],
): AnyFunction | undefined {
  const own = (implementation as Readonly<Record<string, unknown>> | undefined)?.[localName]
  return typeof own === 'function' ? (own as AnyFunction) : undefined
}

/** The reason why a method has no handler. */
export type HandlerProblem = Problem & Values & { readonly kind: keyof typeof SENTENCES }

interface Values {
  /** `shop.v1.Widgets.GetWidget`. */
  readonly method: string
  /** `getWidget`. */
  readonly fn: string
  /** For example, why the method is not a standard method, or the fields that would be lost. */
  readonly why: string
}

const SENTENCES = {
  restrictedWrap: ({ method, fn }: Values) =>
    `${method}: ${fn} is wrapped, which handles row-level decisions: remove supportsRowAccess`,
  noImplementation: ({ method, fn }: Values) => `${method} has no implementation: add ${fn}()`,
  wrapWithoutRepository: ({ method, fn }: Values) =>
    `${method}: ${fn} is wrapped, but no repository is registered with it: pass one, or use a plain function`,
  notStandard: ({ method, fn, why }: Values) => `${method} needs an implementation, ${fn}(), because ${why}`,
  wrapOfNotStandard: ({ method, fn, why }: Values) =>
    `${method}: ${fn} is wrapped, but no repository implements it, because ${why}: use a plain function`,
  overwritesImmutable: ({ method, fn, why }: Values) =>
    `${method} would overwrite ${why}, which is IMMUTABLE, because a repository replaces the enclosing field as a whole: mark that field IMMUTABLE, or pass ${fn}() as a plain function`,
  total: ({ method, why }: Values) => `${method} ${why}`,
  wrapOfOperation: ({ method, fn }: Values) =>
    `${method}: ${fn} is wrapped, but the method returns an operation, which continues after your function: use a plain function`,
  marked: ({ method, fn, why }: Values) => `${method}: ${fn} ${why}`,
}

/**
 * Returns the handler of a method: the implementation's function, or otherwise the repository. If neither can
 * implement it, returns the problem.
 */
export const handlerOf = (
  desc: DescMethod,
  { repository, implementation }: ServiceParts,
  limits: ListLimits,
): Handler | { readonly problem: HandlerProblem } => {
  const refused = (kind: HandlerProblem['kind'], why = '') => {
    const values = { method: `${desc.parent.typeName}.${desc.name}`, fn: desc.localName, why }
    return { problem: { ...problem(kind, SENTENCES[kind](values)), kind, ...values } }
  }
  const own = ownFunction(desc, implementation)
  const wrap = own === undefined ? undefined : wrapOf(own)
  if (own !== undefined && wrapOf(restrictedToOf(own)?.fn ?? own) !== wrap) return refused('restrictedWrap')
  if (own !== undefined && wrap === undefined)
    return { ...userHandler(desc, own, implementation), ...repeating(desc, own) }
  const message = repository?.model.message
  if (repository === undefined || message === undefined)
    return refused(own === undefined ? 'noImplementation' : 'wrapWithoutRepository')
  const standard = standardMethod(desc, message, repository.model.name)
  if ('differs' in standard)
    return refused(own === undefined ? 'notStandard' : 'wrapOfNotStandard', standard.differs)
  const isUpdate = standard.kind === 'update' || standard.kind === 'batchUpdate'
  const lost = isUpdate ? unkeptImmutable(message) : []
  if (lost.length > 0) return refused('overwritesImmutable', lost.join(', '))
  const total = totalProblem(standard, repository)
  if (total !== undefined) return refused('total', total)
  if (own === undefined || wrap === undefined)
    return repositoryHandler(desc, standard, withContextInOverrides(repository), limits)
  if ('startsOperation' in standard && standard.startsOperation) return refused('wrapOfOperation')
  const marked = wrapProblem(own, wrap)
  if (marked !== undefined) return refused('marked', marked)
  return wrappedHandler(desc, standard, repository, limits, wrap, implementation)
}

/**
 * Returns a replay check for a function that names its repository. The response is replayed only to a caller
 * who may get that resource.
 */
const repeating = ({ output }: DescMethod, fn: object): Pick<Handler, 'checkReplay'> => {
  const repository = restrictedToOf(fn)?.repository
  if (repository === undefined || repository.model.message?.typeName !== output.typeName) return {}
  return { checkReplay: (reply, call) => mayRepeat(repository, 'acts', reply, call) }
}
