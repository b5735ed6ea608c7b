import { AlgoSHA512_256 } from '../lib/secrets/hash-spec.js'
import { measureVerifyTiming } from './sides/secrets-timing.js'
import type { Subject } from './subject.js'

const side = (name: string): URL => new URL(`./sides/${name}.js`, import.meta.url)

/** Peers that `bench/package.json` brings are no part of the build: they stay where they are written. */
const peer = (name: string): URL => new URL(`../../bench/peers/${name}.mjs`, import.meta.url)

/** Everything `npm run bench` measures, in the order it does. */
export const SUBJECTS: readonly Subject[] = [
  {
    name: 'sqlite',
    operations: ['get', 'list'],
    concurrency: [1, 16],
    sides: { ashlar: side('sqlite-ashlar'), 'prepared statements': side('sqlite-prepared') },
  },
  {
    name: 'postgres',
    operations: ['get', 'list', 'page 181', 'create', 'update', 'batchGet 100', 'batchUpdate 1000'],
    concurrency: [16, 64],
    sides: {
      ashlar: side('postgres-ashlar'),
      'raw pg': side('postgres-raw'),
      TypeORM: side('postgres-typeorm'),
    },
  },
  {
    name: 'secrets',
    operations: ['verify', 'parse and verify', 'encrypt', 'hash'],
    sides: { ashlar: side('secrets-ashlar'), 'node:crypto': side('secrets-bare') },
    afterwards: verifyTiming,
  },
  {
    name: 'filter',
    operations: ['parse'],
    sides: { ashlar: side('filter-ashlar'), liqe: peer('filter-liqe') },
    installs: true,
  },
  {
    name: 'cli',
    operations: ['--help'],
    sides: { ashlar: side('cli-ashlar'), 'node -e 0': side('cli-bare') },
  },
]

/** Whether time tells a right secret, a wrong one and an unknown public id apart. */
async function verifyTiming(): Promise<readonly string[]> {
  const { right, wrong, unknown, noise } = await measureVerifyTiming({ algo: AlgoSHA512_256 })
  return [
    `verify, medians of 20,000 interleaved calls: right ${right} ns, wrong ${wrong} ns, unknown ${unknown} ns, noise ${noise} ns`,
  ]
}
