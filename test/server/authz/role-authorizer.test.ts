import { expect } from 'chai'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../examples/widgets/widget.js'
import type { AuthorizedServer, Authorizer } from '../../../lib/server/authz/authorizer.js'
import { roleAuthorizer } from '../../../lib/server/authz/role-authorizer.js'
import type { RolePolicy } from '../../../lib/server/authz/role-policy.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { recordingLogger, type RunningServer, startServer } from '../../support/servers/server.js'

const PERMISSIONS = [
  { verb: 'get', resource: 'widget' },
  { verb: 'list', resource: 'widget' },
  { verb: 'approve', resource: 'order' },
  { verb: 'get', resource: 'zone:{zone_id}' },
  { verb: 'get', resource: 'shelf:{shelf}/top' },
]

const POLICY: RolePolicy = {
  roles: {
    viewer: [{ verbs: ['get', 'list'], resource: 'widget' }],
    owner: [{ verbs: ['*'], resource: '*' }],
    zoned: [{ verbs: ['get'], resource: 'zone:7' }],
  },
  bindings: [
    { tenant: 'acme', subjects: ['ann', 'group:staff'], roles: ['viewer'] },
    { tenant: '*', subjects: ['root'], roles: ['owner'] },
    { tenant: 'open', subjects: ['*'], roles: ['viewer', 'zoned'] },
  ],
}

interface Asked {
  readonly subject?: string
  readonly tenant?: string
  readonly groups?: readonly string[]
  readonly verb?: string
  readonly resource?: string
}

const ask = (
  authorizer: Authorizer,
  { subject = 'ann', tenant = 'acme', groups = [], verb = 'get', resource = 'widget' }: Asked = {},
) => {
  const request = {
    principal: { subject, tenant, groups, scopes: [] },
    method: '/x.v1.X/Y',
    verb,
    resource,
    type: resource.split(':', 1)[0] ?? '',
    signal: new AbortController().signal,
  }
  return { allowed: authorizer.authorize(request), why: authorizer.explain?.(request) }
}

const messageOf = (make: () => unknown): string => {
  try {
    make()
    return 'accepted'
  } catch (error) {
    return (error as Error).message
  }
}

const served = (permissions: AuthorizedServer['permissions'] = PERMISSIONS) => {
  const logger = recordingLogger()
  return { permissions, sharedWrites: [], logger, records: logger.records }
}

describe('roleAuthorizer', () => {
  const ROWS: readonly (readonly [what: string, asked: Asked, allowed: boolean])[] = [
    ['a subject what its role allows', {}, true],
    ['a subject no other verb', { verb: 'delete' }, false],
    ['a subject no other resource', { resource: 'order' }, false],
    ['a subject nothing in another tenant', { tenant: 'other' }, false],
    ['a subject nothing in no tenant', { tenant: '' }, false],
    ['a group what its role allows', { subject: 'bob', groups: ['staff'] }, true],
    ['a group nothing in another tenant', { subject: 'bob', groups: ['staff'], tenant: 'other' }, false],
    ['a subject that calls itself a group nothing', { subject: 'group:staff' }, false],
    ['a group that is called as a subject nothing', { subject: 'bob', groups: ['ann'] }, false],
    [
      'everything where both are *',
      { subject: 'root', tenant: 'any', verb: 'approve', resource: 'order' },
      true,
    ],
    ['everybody of a tenant', { subject: 'nobody', tenant: 'open' }, true],
    ['nothing to nobody', { subject: '', tenant: '' }, false],
    ['one resource', { tenant: 'open', resource: 'zone:7' }, true],
    ['no other one of its type', { tenant: 'open', resource: 'zone:71' }, false],
    ['names of Object nothing', { subject: 'constructor', tenant: '__proto__' }, false],
  ]
  for (const [what, asked, allowed] of ROWS)
    it(`allows ${what}`, () => {
      expect(ask(roleAuthorizer(POLICY), asked).allowed).to.equal(allowed)
    })

  it('denies everything without roles, and fails if its file was never read', () => {
    expect(ask(roleAuthorizer({ roles: {}, bindings: [] }), { subject: 'root' }).allowed).to.equal(false)
    expect(messageOf(() => ask(roleAuthorizer({ file: '/nowhere/roles.yaml' })))).to.equal(
      'roleAuthorizer has not read /nowhere/roles.yaml: forward its startUpCheck and close',
    )
  })

  it('names the allowed verbs', () => {
    expect(ask(roleAuthorizer(POLICY), { verb: 'delete' }).why).to.equal(
      'no role allows delete on widget to subject "ann" of tenant "acme" in groups []: it is allowed get, list',
    )
  })

  it('is not changed by later changes to the policy object', () => {
    const verbs = ['get']
    const authorizer = roleAuthorizer({
      ...POLICY,
      roles: { ...POLICY.roles, viewer: [{ verbs, resource: 'widget' }] },
    })
    verbs.push('list')
    expect(ask(authorizer, { verb: 'list' }).allowed).to.equal(false)
  })

  const WRONG: readonly (readonly [policy: unknown, text: string])[] = [
    [{ roles: {} }, 'it has no bindings: add it'],
    [{ ...POLICY, role: [] }, 'role is not a field; did you mean roles?'],
    [{ roles: [], bindings: [] }, 'roles is not an object: list the permissions of each role under its name'],
    [{ roles: { a: [] }, bindings: [] }, 'roles.a is empty: name at least one'],
    [{ roles: { a: [{ verbs: ['get'] }] }, bindings: [] }, 'roles.a[0] has no resource: add it'],
    [{ roles: { a: [{ verbs: 'get', resource: 'x' }] }, bindings: [] }, 'roles.a[0].verbs is not a list'],
    [{ roles: { a: [{ verbs: [7], resource: 'x' }] }, bindings: [] }, 'roles.a[0].verbs[0] is not a string'],
    [{ roles: { a: [{ verbs: ['get*'], resource: 'x' }] }, bindings: [] }, '"get*" is not a pattern'],
    [{ roles: {}, bindings: {} }, 'bindings is not a list'],
    [
      { ...POLICY, bindings: [{ tenant: '', subjects: ['a'], roles: ['viewer'] }] },
      'bindings[0].tenant "": write',
    ],
    [
      { ...POLICY, bindings: [{ tenant: 'a', subjects: [], roles: ['viewer'] }] },
      'bindings[0].subjects is empty',
    ],
    [
      { ...POLICY, bindings: [{ tenant: 'a', subjects: ['group:'], roles: ['viewer'] }] },
      '"group:": write a name',
    ],
    [{ ...POLICY, bindings: [{ tenant: 'a', subjects: ['a '], roles: ['viewer'] }] }, '"a ": write a name'],
    [
      { ...POLICY, bindings: [{ tenant: 'a', subjects: ['a'], roles: ['viewr'] }] },
      'bindings[0].roles[0] "viewr" is not in `roles`; did you mean viewer?',
    ],
    [
      { ...POLICY, bindings: [{ tenant: 'a', subjects: ['a'], roles: ['constructor'] }] },
      'is not in `roles`',
    ],
    [{ file: '' }, 'file is not a path: write one'],
    [{ file: 'a.yaml', ...POLICY }, 'roles is set besides file: write it in the file'],
  ]
  for (const [policy, text] of WRONG)
    it(`rejects a policy with: ${text}`, () => {
      expect(messageOf(() => roleAuthorizer(policy as RolePolicy))).to.include(text)
    })

  it('shows twenty mistakes and counts the rest', () => {
    const bindings = Array.from({ length: 30 }, () => ({ tenant: '', subjects: ['a'], roles: ['viewer'] }))
    const lines = messageOf(() => roleAuthorizer({ ...POLICY, bindings })).split('\n')
    expect([lines.length, lines.at(-1)]).to.deep.equal([22, '  - and 10 more'])
  })

  const UNKNOWN: readonly (readonly [verb: string, resource: string, text: string | undefined])[] = [
    ['get', 'widget', undefined],
    ['approve', '*', undefined],
    ['*', 'zone', undefined],
    ['get', 'zone:7', undefined],
    ['get', 'shelf:3/top', undefined],
    [
      'gett',
      'widget',
      'roles.a[0].verbs[0]: no method and no relation requires "gett" on "widget"; did you mean get?',
    ],
    ['approve', 'widget', '"approve" on "widget"; valid: get, list'],
    ['approve', 'zone:7', '"approve" on "zone:7"'],
    ['fly', '*', '"fly" on "*"'],
    [
      'get',
      'wigdet',
      'roles.a[0].resource: "wigdet" is not a resource type of this server; did you mean widget?',
    ],
    ['get', 'widget:7', '"widget:7": write "widget" for all of them'],
    ['get', 'zone:{zone_id}', '"zone:{zone_id}": write "zone" for all of them, or one in full'],
    ['get', 'shelf:3/bottom', 'no call uses the resource'],
  ]
  for (const [verb, resource, text] of UNKNOWN)
    it(`${text === undefined ? 'accepts' : 'fails at startup for'} ${verb} on ${resource}`, async () => {
      const authorizer = roleAuthorizer({ roles: { a: [{ verbs: [verb], resource }] }, bindings: [] })
      const problems = (await authorizer.startUpCheck?.(served())) ?? []
      if (text === undefined) expect(problems).to.deep.equal([])
      else expect(problems.join()).to.include(text)
    })
})

describe('roleAuthorizer of a file', () => {
  let folder: string
  let file: string
  let server: ReturnType<typeof served>
  let authorizer: Authorizer
  let heard: () => void

  const GOOD = `
roles:
  viewer:
    - { verbs: [get], resource: widget }
bindings:
  - tenant: acme
    subjects: [ann]
    roles: [viewer]
`
  /** Writes a file as a deployment should: at once. */
  const put = (text: string) => {
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
  }
  /** Resolves with the next record of the log. */
  const next = async (change: () => void) => {
    const told = new Promise<void>((resolve) => (heard = resolve))
    change()
    await told
    return server.records.at(-1)
  }
  const start = async () => (await authorizer.startUpCheck?.(server)) ?? []
  const can = (verb: string) => ask(authorizer, { verb }).allowed

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-roles-'))
    file = join(folder, 'roles.yaml')
    heard = () => {}
    const plain = served()
    const told =
      (level: 'info' | 'warn' | 'error') =>
      (fields: object, message: string): void => {
        plain.logger[level](fields, message)
        heard()
      }
    server = {
      ...plain,
      logger: { ...plain.logger, info: told('info'), warn: told('warn'), error: told('error') },
    }
    authorizer = roleAuthorizer({ file })
  })
  afterEach(async () => {
    await authorizer.close?.(server)
    rmSync(folder, { recursive: true, force: true })
  })

  it('is read at startup, as YAML and as JSON', async () => {
    for (const text of [GOOD, JSON.stringify(POLICY), JSON.stringify(POLICY, undefined, '\t')]) {
      put(text)
      expect([await start(), can('get'), can('delete')]).to.deep.equal([[], true, false])
      await authorizer.close?.(server)
    }
  })

  const REFUSED: readonly (readonly [what: string, text: string, problem: string])[] = [
    ['is empty', '', ': the policy is not an object: write one with roles, bindings'],
    ['has a broken line', 'roles: {\n', ':2: '],
    ['is cut off', GOOD.slice(0, GOOD.indexOf('roles: [viewer]')), ':6: bindings[0] has no roles: add it'],
    [
      'leaves out quotes of *',
      'roles:\n  a:\n    - verbs: [*]\n',
      ':3: an alias has no name: write "*" in quotes',
    ],
    ['has a key twice', `${GOOD}roles: {}\n`, ':9: Map keys must be unique'],
    ['has aliases', 'roles: &a {}\nbindings: *a\n', ': has aliases or is nested too deeply'],
    ['has a tag', 'roles: !<x> {}\nbindings: []\n', ':1: Unresolved tag'],
    ['has two documents', 'a: 1\n---\nb: 2\n', ':2: '],
    ['has a number', GOOD.replace('acme', '7'), ':6: bindings[0].tenant is not a string: write it in quotes'],
    [
      'has an unknown role',
      GOOD.replace('[viewer]', '[admin]'),
      ':8: bindings[0].roles[0] "admin" is not in `roles`',
    ],
    [
      'has an unknown field',
      GOOD.replace('subjects', 'subject'),
      ':7: bindings[0].subject is not a field; did you mean',
    ],
    [
      'has an unknown verb',
      GOOD.replace('[get]', '[gett]'),
      ':4: roles.viewer[0].verbs[0]: no method and no relation requires "gett" on "widget"',
    ],
    [
      'has an unknown type',
      GOOD.replace('widget', 'wigdet'),
      ':4: roles.viewer[0].resource: "wigdet" is not a resource',
    ],
    ['is nested deeply', `roles: ${'['.repeat(50_000)}`, 'roles.yaml'],
    [
      'is large',
      `#${'x'.repeat(1024 * 1024)}`,
      'is larger than 131072 bytes: it must contain only the policy',
    ],
  ]
  for (const [what, text, problem] of REFUSED)
    it(`fails at startup when it ${what}, and says where`, async () => {
      put(text)
      const problems = await start()
      expect(problems.join('\n')).to.include(problem)
      expect(problems[0]).to.match(/^roleAuthorizer: .*roles\.yaml/)
    })

  it('fails at startup when it is missing or a folder', async () => {
    expect((await start()).join()).to.include('roles.yaml cannot be read (ENOENT): create it, mount it')
    mkdirSync(file)
    expect((await start()).join()).to.include('it is a folder: name the file in it that contains the policy')
  })

  it('is read again when it changes', async () => {
    put(GOOD)
    await start()
    const record = await next(() => put(GOOD.replace('[get]', '[list]')))
    expect(record).to.deep.equal({ level: 'info', fields: { file }, message: 'the roles file is used' })
    expect([can('get'), can('list')]).to.deep.equal([false, true])
  })

  it('is read again when the symbolic link to its folder is swapped, as Kubernetes does', async () => {
    const versions = ['1', '2'].map((name) => join(folder, name))
    for (const [index, version] of versions.entries()) {
      mkdirSync(version)
      writeFileSync(join(version, 'roles.yaml'), index === 0 ? GOOD : GOOD.replace('[get]', '[list]'))
    }
    const current = join(folder, '..data')
    symlinkSync(versions[0] ?? '', current)
    symlinkSync(join(current, 'roles.yaml'), file)
    await start()
    expect([can('get'), can('list')]).to.deep.equal([true, false])
    await next(() => {
      symlinkSync(versions[1] ?? '', `${current}.new`)
      renameSync(`${current}.new`, current)
    })
    expect([can('get'), can('list')]).to.deep.equal([false, true])
  })

  const BAD: readonly (readonly [what: string, change: () => void, problem: string])[] = [
    ['is malformed', () => put('roles: {'), 'roles.yaml:1'],
    ['is empty', () => put(''), 'the policy is not an object'],
    ['names an unknown verb', () => put(GOOD.replace('[get]', '[gett]')), '"gett" on "widget"'],
    ['is deleted', () => rmSync(file), 'ENOENT'],
    ['is deleted with its folder', () => rmSync(folder, { recursive: true }), 'ENOENT'],
  ]
  for (const [what, change, problem] of BAD)
    it(`keeps the last policy when it ${what}, logs that once, and is read again when it is valid`, async () => {
      put(GOOD)
      await start()
      const record = await next(change)
      expect(record?.level).to.equal('error')
      expect(record?.message).to.equal('the roles file is not used: the last good version stays')
      expect(JSON.stringify(record?.fields['problems'])).to.include(problem.replaceAll('"', '\\"'))
      expect([can('get'), can('list')]).to.deep.equal([true, false])
      // Another server reads the file once more: the same problem is not logged again.
      const other = served()
      expect(await authorizer.startUpCheck?.(other)).to.not.deep.equal([])
      expect(server.records.filter(({ level }) => level === 'error')).to.have.length(1)
      mkdirSync(folder, { recursive: true })
      expect((await next(() => put(GOOD.replace('[get]', '[list]'))))?.level).to.equal('info')
      expect([can('get'), can('list')]).to.deep.equal([false, true])
    })

  it('is watched until the last of its servers has stopped', async () => {
    put(GOOD)
    const other = served()
    await start()
    expect(await authorizer.startUpCheck?.(other)).to.deep.equal([])
    await authorizer.close?.(other)
    await authorizer.close?.(served())
    await next(() => put(GOOD.replace('[get]', '[list]')))
    expect(can('list')).to.equal(true)
    expect(other.records).to.deep.equal([])
    await authorizer.close?.(server)
    const witness = roleAuthorizer({ file })
    expect(await witness.startUpCheck?.(server)).to.deep.equal([])
    await next(() => put(GOOD))
    await witness.close?.(server)
    expect([can('get'), ask(witness).allowed]).to.deep.equal([false, true])
    expect(await start()).to.deep.equal([])
    expect(can('get')).to.equal(true)
  })
})

describe('a server with roleAuthorizer', () => {
  const policy = (verbs: readonly string[]): RolePolicy => ({
    roles: { viewer: [{ verbs, resource: 'widget' }] },
    bindings: [{ tenant: 'acme', subjects: ['group:makers'], roles: ['viewer'] }],
  })
  const ALICE = { 'account-id': 'acme', subject: 'alice', groups: 'makers' }
  const serve = (authorizer: Authorizer) =>
    startServer(
      (builder) =>
        builder.register(WidgetService, new MemoryRepository(Widget), { retireWidget: () => ({}) }),
      { authorizer },
    )
  const list = async ({ http }: RunningServer, headers: Record<string, string> = ALICE) =>
    (await fetch(`${http}/v1/widgets`, { headers })).status

  it('decides by its roles, and another tenant gets nothing', async () => {
    const running = await serve(roleAuthorizer(policy(['list'])))
    try {
      expect(await list(running)).to.equal(200)
      expect(await list(running, { ...ALICE, 'account-id': 'other' })).to.equal(403)
      expect((await fetch(`${running.http}/v1/widgets/a`, { headers: ALICE })).status).to.equal(403)
    } finally {
      await running.stop()
    }
  })

  it('does not start with a verb that it never asks about', async () => {
    const error = await serve(roleAuthorizer(policy(['lisst']))).catch((failure: Error) => failure)
    expect((error as Error).message).to.include(
      'roleAuthorizer: roles.viewer[0].verbs[0]: no method and no relation requires "lisst" on "widget"; did you mean list?',
    )
  })

  for (const problems of [[], ['no']])
    it(`closes an authorizer with the server that ${problems.length === 0 ? 'stops' : 'does not start'}`, async () => {
      const checked: AuthorizedServer[] = []
      const closed: AuthorizedServer[] = []
      const running = await serve({
        authorize: () => false,
        startUpCheck: (server) => {
          checked.push(server)
          return problems
        },
        close: (server) => void closed.push(server),
      }).catch(() => undefined)
      await running?.stop()
      expect(checked).to.have.length(1)
      expect(closed[0]).to.equal(checked[0])
      expect(checked[0]?.permissions).to.deep.include({ verb: 'list', resource: 'widget' })
    })

  it('starts with it in production, and reads the file until it stops', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ashlar-roles-'))
    const file = join(folder, 'roles.json')
    const before = process.env['NODE_ENV']
    process.env['NODE_ENV'] = 'production'
    try {
      writeFileSync(file, JSON.stringify(policy(['get'])))
      const logger = recordingLogger()
      let told = () => {}
      const heard = new Promise<void>((resolve) => (told = resolve))
      const running = await startServer(
        (builder) =>
          builder.register(WidgetService, new MemoryRepository(Widget), { retireWidget: () => ({}) }),
        {
          allowDevelopment: false,
          authorizer: roleAuthorizer({ file }),
          principalFunc: ({ metadata }) => ({
            subject: metadata.get('subject') ?? '',
            tenant: metadata.get('account-id') ?? '',
            groups: [metadata.get('groups') ?? ''],
            scopes: [],
          }),
          logger: {
            ...logger,
            info: (_fields, message) => {
              if (message === 'the roles file is used') told()
            },
          },
        },
      )
      try {
        expect(await list(running)).to.equal(403)
        writeFileSync(file, JSON.stringify(policy(['list'])))
        await heard
        expect(await list(running)).to.equal(200)
      } finally {
        await running.stop()
      }
    } finally {
      if (before === undefined) delete process.env['NODE_ENV']
      else process.env['NODE_ENV'] = before
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
