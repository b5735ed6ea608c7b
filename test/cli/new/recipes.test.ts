import { expect } from 'chai'
import { rmSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { hasBuf, type LinkedProject, linkedProject } from '../../support/projects/linked-project.js'
import { compiled } from '../../support/root.js'
import { askedBackends } from '../../support/running/asked.js'
import { eventsRecipe } from '../../support/projects/recipes/events.js'
import { singletonRecipe } from '../../support/projects/recipes/singleton.js'
import { softDeleteRecipe } from '../../support/projects/recipes/soft-delete.js'

/** One after the other, in one project that `ashlar new` has just written. */
describe('the recipes of the guides', () => {
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

  for (const { page, follow } of [eventsRecipe, singletonRecipe, softDeleteRecipe])
    it(`can be followed: ${page}`, () => follow(project!))

  it('compile, and their tests pass', () => {
    expect(project!.test()).to.match(/^# fail 0$/m)
  })
})
