import { rmSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { compiled } from '../root.js'
import { askedBackends } from '../running/asked.js'
import { hasBuf, type LinkedProject, linkedProject } from './linked-project.js'

/**
 * A project on SQLite that `ashlar new` has just written, for the tests of the `describe` around the call. They are skipped where it
 * cannot be built.
 */
export function recipeProject(): () => LinkedProject {
  let project: LinkedProject | undefined
  before(async function () {
    const asked = askedBackends()
    if (!hasBuf || basename(compiled) !== 'dist' || (asked !== undefined && !asked.includes('sqlite')))
      this.skip()
    project = await linkedProject('shop', ['--database', 'sqlite', '--no-nest', '--auth', 'headers'])
  })
  after(() => {
    if (project !== undefined) rmSync(dirname(project.folder), { recursive: true, force: true })
  })
  return () => project as LinkedProject
}
