import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/root.js'

interface Locked {
  readonly version?: string
  readonly optional?: boolean
  readonly engines?: { readonly node?: string }
}

/** Whether a range has an alternative for Node.js 20. */
const takesNode20 = (range: string): boolean =>
  range.split('||').some((alternative) => {
    const [, operator = '', major = ''] = /^\s*([<>=^~]*)\s*v?(\d+|\*)/.exec(alternative) ?? []
    return major === '*' || major === '20' || (operator.startsWith('>') && Number(major) < 20)
  })

it('npm ci prints no warning on Node.js 20: each locked package takes it', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, Locked>>
  }
  const others = Object.entries(packages).flatMap(([path, { version, engines, optional }]) =>
    optional === true || takesNode20(engines?.node ?? '*') ? [] : [`${path} ${version}: ${engines?.node}`],
  )
  expect(others).to.deep.equal([])
})
