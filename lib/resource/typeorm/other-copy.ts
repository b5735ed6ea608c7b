import { otherCopyOf } from '../../../decorators/entity-facts.js'
import { DeclarationError, inEntity, problem } from '../../errors.js'

/** @throws DeclarationError for a class that was decorated by another copy of this package. */
export function refuseOtherCopy(entity: object & { readonly name: string }): void {
  const copies = otherCopyOf(entity)
  if (copies === undefined) return
  const found = problem(
    'entity',
    `${entity.name} is declared with the copy of ashlar in ${folderOf(copies.its)}, but this program uses the copy in ${folderOf(copies.ours)}`,
    "install ashlar once (npm ls ashlar lists the copies), or run the same copy's program, such as npx ashlar in the project's folder",
  )
  throw new DeclarationError(entity.name, inEntity(entity, [found]))
}

/** Returns the package folder that contains a file of the decorators. */
const folderOf = (file: string): string =>
  decodeURIComponent(new URL(file).pathname).replace(/(\/dist[^/]*)?\/decorators\/[^/]*$/, '')
