import type { DescMethod } from '@bufbuild/protobuf'
import type { Repository } from '../../persistence/contract/repository.js'
import { type AnyFunction, type Handler, restrictedToOf, userHandler } from '../chain/handler.js'
import { unkeptImmutable } from './immutable-fields.js'
import { withContextInOverrides } from './overrides.js'
import { mayRepeat, repositoryHandler } from './repository-handler.js'
import { standardMethod } from './standard-method.js'
import { type ListLimits, totalProblem } from './total-size.js'
import { wrapOf } from './wrapped.js'
import { wrappedHandler, wrapProblem } from './wrapped-handler.js'

/** What implements the methods of a service. */
export interface ServiceParts {
  readonly repository?: Repository<object> | undefined
  readonly implementation?: object | undefined
}

/** The function of an implementation for a method. */
export function ownFunction(
  { localName }: DescMethod,
  implementation: ServiceParts['implementation'],
): AnyFunction | undefined {
  const own = (implementation as Readonly<Record<string, unknown>> | undefined)?.[localName]
  return typeof own === 'function' ? (own as AnyFunction) : undefined
}

/** What runs a method: the function of the implementation, else the repository. Or why nothing does, in words. */
export const handlerOf = (
  desc: DescMethod,
  { repository, implementation }: ServiceParts,
  limits: ListLimits,
): Handler | { readonly problem: string } => {
  const name = `${desc.parent.typeName}.${desc.name}`
  const own = ownFunction(desc, implementation)
  const isOwn = own !== undefined
  const wrap = isOwn ? wrapOf(own) : undefined
  if (isOwn && wrapOf(restrictedToOf(own)?.fn ?? own) !== wrap)
    return {
      problem: `${name}: ${desc.localName} is wrapped, which takes care of decisions by row: leave supportsRowAccess out`,
    }
  if (isOwn && wrap === undefined)
    return { ...userHandler(desc, own, implementation), ...repeating(desc, own) }
  const message = repository?.model.message
  if (repository === undefined || message === undefined)
    return {
      problem: isOwn
        ? `${name}: ${desc.localName} is wrapped, and no repository is registered with it: give one, or a plain function`
        : `${name} has no implementation: give ${desc.localName}()`,
    }
  const standard = standardMethod(desc, message, repository.model.name)
  if ('differs' in standard)
    return {
      problem: isOwn
        ? `${name}: ${desc.localName} is wrapped, and no repository implements it, because ${standard.differs}: give a plain function`
        : `${name} needs an implementation, ${desc.localName}(), because ${standard.differs}`,
    }
  const lost = standard.kind === 'update' || standard.kind === 'batchUpdate' ? unkeptImmutable(message) : []
  if (lost.length > 0)
    return {
      problem: `${name} would overwrite ${lost.join(', ')}, which is IMMUTABLE, because a repository replaces the field around it as a whole: mark that IMMUTABLE, or give ${desc.localName}() as a plain function`,
    }
  const total = totalProblem(standard, repository)
  if (total !== undefined) return { problem: `${name} ${total}` }
  if (wrap === undefined) return repositoryHandler(desc, standard, withContextInOverrides(repository), limits)
  if ('startsOperation' in standard && standard.startsOperation)
    return {
      problem: `${name}: ${desc.localName} is wrapped, and the method returns an operation, which goes on after your function: give a plain function`,
    }
  const problem = wrapProblem(own as AnyFunction, wrap)
  if (problem !== undefined) return { problem: `${name}: ${desc.localName} ${problem}` }
  return wrappedHandler(desc, standard, repository, limits, wrap, implementation)
}

/** The response of a function that names its repository is one of its resources: it is repeated for a caller who may get that. */
const repeating = ({ output }: DescMethod, fn: object): Pick<Handler, 'checkReplay'> => {
  const repository = restrictedToOf(fn)?.repository
  if (repository === undefined || repository.model.message?.typeName !== output.typeName) return {}
  return { checkReplay: (reply, call) => mayRepeat(repository, 'acts', reply, call) }
}
