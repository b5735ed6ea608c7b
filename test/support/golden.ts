import { expect } from 'chai'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './root.js'

/** Compares `text` with the file `test/golden/<name>`. With `UPDATE_GOLDEN=1`, writes the file instead. */
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

/**
 * Reads the JSON file `test/golden/<name>` and compares values with its entries. With `UPDATE_GOLDEN=1`, the
 * values are written to the file and become the expected ones.
 */
export function goldenIn<T>(name: string): {
  readonly all: Readonly<Record<string, T>>
  expect(key: string, value: T): T
} {
  const path = join(root, 'test', 'golden', name)
  const isWritten = process.env.UPDATE_GOLDEN === '1'
  const all = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, T>) : {}
  return {
    all,
    expect: (key, value) => {
      if (isWritten) {
        all[key] = value
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, `${JSON.stringify(all, undefined, 2)}\n`)
      }
      expect(value, `${key} of test/golden/${name} (UPDATE_GOLDEN=1 writes it anew)`).to.deep.equal(all[key])
      return all[key] as T
    },
  }
}
