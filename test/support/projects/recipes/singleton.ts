import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../../sources/documents.js'
import type { Recipe } from './recipe.js'

const PAGE = 'docs/guides/resource-names.md'

/** The recipe "A whole singleton". */
export const singletonRecipe: Recipe = {
  page: PAGE,
  follow: (project) => {
    const recipe = /\n### A whole singleton\n(.*?)\n## /s.exec(textOf(PAGE))?.[1] ?? ''
    const blocks = recipe.matchAll(/`([\w./-]+\.(?:proto|ts))`[^`]*?:\n\n```\w+\n(.*?)```/gs)
    const files = new Map([...blocks].map(([, file = '', text = '']) => [file, text]))
    expect([...files.keys()]).to.deep.equal([
      './proto/shop/v1/project_settings.proto',
      'src/projects/project-settings.ts',
      'src/projects/project-repository.ts',
      'src/projects/project-settings-service.ts',
      'src/services.ts',
      './test/project-settings.test.ts',
    ])
    const edit = (file: string, change: (text: string) => string): void => {
      const path = join(project.folder, file)
      const text = readFileSync(path, 'utf8')
      expect(change(text), file).to.not.equal(text)
      writeFileSync(path, change(text))
    }
    for (const [file, text] of files) {
      if (file === 'src/services.ts') {
        const [entity = '', service = ''] = text.split('\n')
        edit('src/entities.ts', (old) => `${old}${entity}\n`)
        edit(file, (old) => `${old}${service}\n`)
      } else if (file.endsWith('project-repository.ts')) {
        const [imports = '', members = ''] = text.split('…\n')
        const [first = '', ...others] = members.split('\n')
        edit(file, (old) =>
          `${imports}${old}`
            .replace(
              "import { AshlarError, ErrPreconditionFailed, repositoryOf } from 'ashlar'",
              "import { AshlarError, ErrPreconditionFailed } from 'ashlar'",
            )
            .replace(first, () => [first, ...others].join('\n')),
        )
      } else writeFileSync(join(project.folder, file), text)
    }
    return Promise.resolve()
  },
}
