import { expect } from 'chai'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './root.js'

/** Compares `text` with the file `test/golden/<name>`; `UPDATE_GOLDEN=1` writes the file instead. */
export function expectGolden(name: string, text: string): void {
  const path = join(root, 'test', 'golden', name)
  if (process.env.UPDATE_GOLDEN === '1') {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const hint = `test/golden/${name} (UPDATE_GOLDEN=1 writes it anew)`
  expect(existsSync(path), hint).to.equal(true)
  expect(text, hint).to.equal(readFileSync(path, 'utf8'))
}
