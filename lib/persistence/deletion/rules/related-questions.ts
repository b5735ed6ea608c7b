import type { RelatedQuestions } from '../../contract/related-options.js'
import { comesBack, type Edge, goesAlong, isLeftBySoftDelete, isSoft, type Member } from './family.js'

/**
 * Returns the resources for which a delete or an undelete needs the caller's permissions.
 *
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

/** Returns the resources that may be restored together with a resource. */
export const undeletedWith = (root: Member): readonly Member[] =>
  root.undeletedBy === undefined ? [] : reached(root, comesBack)

/**
 * Returns true if rows may block the deletion of their parent: the relation restricts it, or the caller may
 * not delete them.
 */
const isCounted = ({ relation }: Edge): boolean => relation.onDelete !== 'set null'

/** Returns the resources that such references reach, at any depth. */
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
