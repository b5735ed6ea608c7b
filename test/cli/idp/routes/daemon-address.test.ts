import { expect } from 'chai'
import { homedir } from 'node:os'
import { Failure } from '../../../../cli/errors/failure.js'
import { daemonAddresses, showAddress } from '../../../../cli/idp/routes/daemon-address.js'

const CASES: readonly (readonly [string, NodeJS.ProcessEnv, readonly string[]])[] = [
  ['nothing is set', {}, [`${homedir()}/.devedge/devedged.sock`, '127.0.0.1:15353']],
  ['HOME is set', { HOME: '/tmp/me' }, ['/tmp/me/.devedge/devedged.sock', '127.0.0.1:15353']],
  [
    'DEVEDGE_HOME is set',
    { DEVEDGE_HOME: '/tmp/edge', HOME: '/tmp/me' },
    ['/tmp/edge/devedged.sock', '127.0.0.1:15353'],
  ],
  [
    'they are empty',
    { DEVEDGE_HOME: '', DEVEDGE_ADDR: '', HOME: '/tmp/me' },
    ['/tmp/me/.devedge/devedged.sock', '127.0.0.1:15353'],
  ],
  [
    'DEVEDGE_ADDR is set',
    { DEVEDGE_HOME: '/tmp/edge', DEVEDGE_ADDR: 'localhost:80' },
    ['/tmp/edge/devedged.sock', 'localhost:80'],
  ],
  [
    'DEVEDGE_ADDR is IPv6',
    { DEVEDGE_HOME: '/tmp/edge', DEVEDGE_ADDR: '[::1]:80' },
    ['/tmp/edge/devedged.sock', '::1:80'],
  ],
]

describe('daemonAddresses', () => {
  for (const [name, env, addresses] of CASES)
    it(`looks in the usual places when ${name}`, () => {
      expect(daemonAddresses(env).map(showAddress)).to.deep.equal(addresses)
    })

  for (const bad of [
    'localhost',
    '127.0.0.1:0',
    '127.0.0.1:65536',
    'http://127.0.0.1:80',
    ':80',
    '127.0.0.1:x',
  ])
    it(`refuses DEVEDGE_ADDR=${bad}`, () => {
      expect(() => daemonAddresses({ DEVEDGE_ADDR: bad }))
        .to.throw(Failure, 'is not host:port')
        .with.property('exit', 'input')
    })
})
