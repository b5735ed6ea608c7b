import type { LinkedProject } from '../linked-project.js'

/** The steps of a documentation page, for a project that `ashlar new` has written. */
export interface Recipe {
  readonly page: string
  follow(project: LinkedProject): Promise<void>
}
