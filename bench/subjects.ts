import type { Subject } from './subject.js'

const side = (name: string): URL => new URL(`./sides/${name}.js`, import.meta.url)

/** Everything `npm run bench` measures, in the order it does. */
export const SUBJECTS: readonly Subject[] = [
  {
    name: 'secrets',
    operations: ['verify', 'parse and verify', 'encrypt', 'hash'],
    sides: { ashlar: side('secrets-ashlar'), 'node:crypto': side('secrets-bare') },
  },
]
