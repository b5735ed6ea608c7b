import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { packedFile } from '../load/packed.js'
import type { Side } from '../subject.js'

const program = new URL(import.meta.url).searchParams.has('packed')
  ? packedFile('node_modules/ashlar/bin/ashlar.js')
  : fileURLToPath(new URL('../../../bin/ashlar.js', import.meta.url))

/** Runs `ashlar --help` in a new process each time. The goal is twice the time of `node -e 0`, and 150 ms. */
export function setUp(): Side {
  return {
    operations: {
      '--help': () => {
        const help = execFileSync(process.execPath, [program, '--help'], { encoding: 'utf8' })
        if (!help.includes('EXAMPLES')) throw new TypeError('this is not the help')
      },
    },
  }
}
