import { expect } from 'chai'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { watchedPaths } from '../../../cli/dev/watched-paths.js'

describe('watched paths', () => {
  let folder: string
  let watching: ReturnType<typeof watchedPaths>
  let heard: (paths: readonly string[]) => void = () => undefined
  /** What is told next. */
  const reported = (): Promise<readonly string[]> => new Promise((resolve) => (heard = resolve))

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-watched-'))
    mkdirSync(join(folder, 'src/tasks'), { recursive: true })
    writeFileSync(join(folder, 'src/tasks/task.ts'), '')
    watching = watchedPaths(folder, ['src', 'missing'], (paths) => heard(paths))
  })
  afterEach(() => {
    watching.close()
    rmSync(folder, { recursive: true })
  })

  it('are told of each time that an editor replaces a file', async () => {
    for (const text of ['a', 'b', 'c']) {
      const next = reported()
      writeFileSync(join(folder, 'draft'), text)
      renameSync(join(folder, 'draft'), join(folder, 'src/tasks/task.ts'))
      expect(await next).to.deep.equal(['src/tasks/task.ts'])
    }
  })

  it('are told of files in folders that come later, and come again', async () => {
    for (const text of ['a', 'b']) {
      let next = reported()
      mkdirSync(join(folder, 'src/new/deep'), { recursive: true })
      writeFileSync(join(folder, 'src/new/deep/a.ts'), text)
      expect(await next).to.include('src/new/deep/a.ts')
      next = reported()
      writeFileSync(join(folder, 'src/new/deep/a.ts'), `${text}${text}`)
      expect(await next).to.deep.equal(['src/new/deep/a.ts'])
      next = reported()
      rmSync(join(folder, 'src/new'), { recursive: true })
      await next
    }
  })
})
