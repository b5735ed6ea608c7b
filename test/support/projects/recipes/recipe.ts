import type { LinkedProject } from '../linked-project.js'

/** What a page says to do in a project that `ashlar new` has written. */
export interface Recipe {
  readonly page: string
  follow(project: LinkedProject): Promise<void>
}
