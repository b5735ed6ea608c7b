import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { blocksOf, textOf } from '../../sources/documents.js'
import type { Recipe } from './recipe.js'

const PAGE = 'docs/guides/events-in-a-project.md'

/** The events recipe, for a project of `ashlar new`. */
export const eventsRecipe: Recipe = {
  page: PAGE,
  follow: async (project) => {
    const recipe = textOf(PAGE)
    const blocks = blocksOf(PAGE).filter(({ text }) => recipe.includes(text))
    const block = (part: string): string => {
      const found = blocks.find(({ text }) => text.includes(part))
      if (found === undefined) throw new Error(`no block of the recipe has ${part}`)
      return found.text
    }
    const replace = (file: string, ...pairs: readonly (readonly [string, string])[]): void => {
      const path = join(project.folder, file)
      let text = readFileSync(path, 'utf8')
      for (const [old, its] of pairs) {
        expect(text).to.include(old)
        text = text.replace(old, its)
      }
      writeFileSync(path, text)
    }
    const [, ...given] = /`npx ashlar (generate resource \w+) --fields '([^']+)'`/.exec(recipe) ?? []
    const [words = '', fields = ''] = given
    const { exit, stderr } = await project.ashlar(...words.split(' '), '--fields', fields)
    expect([exit, stderr]).to.deep.equal([0, ''])
    replace(
      'src/projects/project.ts',
      ['import { CreateTime, Default, ETag,', 'import { CreateTime, Default, Emits, ETag,'],
      ['@TenantScoped()', '@TenantScoped()\n@Emits()'],
    )
    writeFileSync(join(project.folder, 'src/events.ts'), block('export function workers'))
    writeFileSync(join(project.folder, 'test/events.test.ts'), block('new MemoryDatabase()'))
    const added = block('.workers(...workers(dataSource))')
    replace(
      'src/server.ts',
      [added.split('\n')[0] ?? '', added],
      ['import * as services', "import { workers } from './events.js'\nimport * as services"],
    )
  },
}
