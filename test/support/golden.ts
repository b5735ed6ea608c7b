import { expect } from 'chai'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './root.js'

/** Compares `text` with the file `path` under test/golden. `UPDATE_GOLDEN=1` writes the file instead. */
export function expectGolden(path: string, text: string): void {
  const file = join(root, 'test', 'golden', path)
  if (process.env.UPDATE_GOLDEN === '1') {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return
  }
  expect(existsSync(file), `${path} is missing: make it with UPDATE_GOLDEN=1`).to.equal(true)
  expect(text).to.equal(readFileSync(file, 'utf8'))
}
