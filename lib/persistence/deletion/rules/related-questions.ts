import type { RelatedQuestions } from '../../contract/related-options.js'
import { comesBack, type Edge, goesAlong, isLeftBySoftDelete, isSoft, type Member } from './family.js'

/**
 * About which resources a delete or an undelete of one asks what its caller may do.
 * @param root - undefined for a resource without relations.
 */
export function relatedQuestions(
  root: Member | undefined,
  { force }: { readonly force: boolean },
): RelatedQuestions {
  if (root === undefined) return { delete: [], undelete: [], list: [] }
  const how = { force, isSoftDelete: isSoft(root) }
  const deleted = reached(root, (edge) => goesAlong(edge, how))
  const met = [root, ...deleted]
    .flatMap(({ children }) => children)
    .filter((edge) => isCounted(edge) && !(how.isSoftDelete && isLeftBySoftDelete(edge)))
  return {
    delete: modelsOf(deleted),
    undelete: modelsOf(undeletedWith(root)),
    list: modelsOf(met.map(({ child }) => child)),
  }
}

/** The resources that may be restored together with a resource. */
export const undeletedWith = (root: Member): readonly Member[] =>
  root.undeletedBy === undefined ? [] : reached(root, comesBack)

/** True if the rows may keep their parent: they restrict, or the caller may not delete them. */
const isCounted = ({ relation }: Edge): boolean => relation.onDelete !== 'set null'

/** The children that such references lead to, at any depth. */
const reached = (root: Member, follows: (edge: Edge) => boolean): Member[] => {
  const found = new Set<Member>()
  for (let level = [root]; level.length > 0;) {
    const next = level.flatMap(({ children }) => children.filter(follows).map(({ child }) => child))
    level = [...new Set(next)].filter((child) => !found.has(child))
    for (const child of level) found.add(child)
  }
  return [...found]
}

const modelsOf = (members: readonly Member[]) => [...new Set(members.map(({ model }) => model))]
