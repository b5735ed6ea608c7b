import { clone, create, setExtension } from '@bufbuild/protobuf'
import {
  type MethodDescriptorProto,
  MethodDescriptorProtoSchema,
  MethodOptionsSchema,
} from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { rule as ruleOption, RuleSchema } from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'
import type { ListOptions, ListScope } from '../../../lib/persistence/contract/repository.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf } from '../../../lib/persistence/repository-of.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import { wrapped } from '../../../lib/server/methods/wrapped.js'
import { testServer } from '../../../lib/testing/harness/test-server.js'
import { Country, Person, Project, Task } from '../../support/entities/plans.js'
import { CountryService, PersonService, ProjectService, TaskService } from '../../support/gen/plans_pb.js'
import { Described } from '../../support/openapi/described.js'
import { openApi } from '../../../lib/server/openapi/open-api.js'
import { altered } from '../../support/grpc/altered.js'

const KNOWN = '"tasks":[]'
const UNKNOWN = 'unknown field'

const Projects = memoryRepositoryOf(Project)

class NarrowedProjects extends Projects {
  override list(list?: ListOptions<Project>, options?: ListScope) {
    return super.list({ ...list, filter: 'phase = ACTIVE' }, options)
  }
}

interface Served {
  readonly service?: typeof ProjectService
  readonly repository?: typeof Projects
  readonly own?: object
}

const setRule = (method: MethodDescriptorProto, rule: object): void => {
  method.options = create(MethodOptionsSchema)
  setExtension(method.options, ruleOption, create(RuleSchema, rule))
}

const ruled = (rule: object): Served => ({
  service: altered(ProjectService, ({ method }) => setRule(method('ListProjects'), rule)),
})

/** With another List of the same resource, which has a rule of its own. */
const listedTwice = (rule: object): Served => ({
  service: altered(ProjectService, ({ file, method }) => {
    const second = clone(MethodDescriptorProtoSchema, method('ListProjects'))
    second.name = 'ListProject'
    setRule(second, rule)
    file.service.find(({ name }) => name === 'ProjectService')?.method.push(second)
  }),
})

const list = { verb: 'list', resource: 'project' }
const listed = () => ({ projects: [], nextPageToken: '' })

describe('a filter of a List knows a relation', () => {
  const rows: readonly (readonly [where: string, expected: string, served: Served])[] = [
    ['where a repository lists the other resource', KNOWN, {}],
    ['where its List is public', KNOWN, ruled({ public: true })],
    ['where two Lists have one rule', KNOWN, listedTwice(list)],
    ['not where two Lists have different rules', UNKNOWN, listedTwice({ ...list, verb: 'survey' })],
    ['not where its List has a verb that nobody may', UNKNOWN, ruled({ ...list, verb: 'see' })],
    [
      'not where its rule is filled from the request',
      UNKNOWN,
      ruled({ ...list, resource: 'project:{filter}' }),
    ],
    ['not where a function of its own lists it', UNKNOWN, { own: { listProjects: listed } }],
    ['not where a function is around its List', UNKNOWN, { own: { listProjects: wrapped({}, listed) } }],
    ['not where the repository overrides list', UNKNOWN, { repository: NarrowedProjects }],
  ]
  for (const [where, expected, served] of rows)
    it(where, async () => {
      await using server = await serving(served)
      const response = await server.as({ subject: 'ada', tenant: 'acme' }).fetch('/v1/tasks?filter=project:*')
      expect(await response.text()).to.include(expected)
    })

  it('that the OpenAPI document names, where it can be known', async () => {
    const named = async (served: Served) => {
      await using server = await serving(served)
      const described = new Described(await openApi(server.server))
      const { parameters } = described.at('/paths/~1v1~1tasks/get') as unknown as {
        parameters: readonly Parameter[]
      }
      return ['filter', 'order_by'].map((name) => {
        const { description } = parameters.find((one) => one.name === name) as Parameter
        return /that the caller may list, after a dot: (.*)\.$/.exec(description)?.[1]
      })
    }
    expect(await named({})).to.deep.equal(Array(2).fill('`project.`, `lead.`, `after.`'))
    expect(await named({ repository: NarrowedProjects })).to.deep.equal(Array(2).fill('`lead.`, `after.`'))
  })
})

interface Parameter {
  readonly name: string
  readonly description: string
}

const nobodyCalls = () => Promise.reject(new TypeError('nobody calls it'))

const serving = ({ service = ProjectService, repository = Projects, own = {} }: Served) => {
  const database = new MemoryDatabase()
  return testServer(
    (builder) =>
      builder
        .register(CountryService, new (memoryRepositoryOf(Country))({ database }))
        .register(PersonService, new (memoryRepositoryOf(Person))({ database }))
        .register(service, new repository({ database, encryptor: newDev(Buffer.alloc(32, 7)) }), own)
        .register(TaskService, new (memoryRepositoryOf(Task))({ database }), {
          planTask: nobodyCalls,
          watchTasks: nobodyCalls as never,
        }),
    {
      authorizer: devAuthorizer([
        { tenant: '*', subjects: ['*'], verbs: ['get', 'list', 'survey'], resource: '*' },
      ]),
    },
  )
}
