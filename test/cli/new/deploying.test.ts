import { expect } from 'chai'
import { parseAllDocuments } from 'yaml'
import { projectFilesOf } from '../../../cli/new/project-files.js'
import { blocksOf } from '../../support/sources/documents.js'

const PAGE = 'docs/guides/deploying.md'

interface Container {
  readonly command?: readonly string[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly env: readonly { readonly name: string }[]
  readonly livenessProbe?: { readonly httpGet: { readonly path: string; readonly port: string } }
  readonly readinessProbe?: { readonly httpGet: { readonly path: string; readonly port: string } }
}
interface Manifest {
  readonly kind: string
  readonly spec: {
    readonly template?: {
      readonly spec: { readonly terminationGracePeriodSeconds?: number; readonly containers: [Container] }
    }
    readonly ports?: readonly { readonly targetPort: string }[]
  }
}

const manifests = blocksOf(PAGE)
  .filter(({ language }) => language === 'yaml')
  .flatMap(({ text }) => parseAllDocuments(text))
  .map((document) => {
    expect(document.errors).to.deep.equal([])
    return document.toJS() as Manifest
  })
const manifest = (kind: string): Manifest => {
  const found = manifests.find((one) => one.kind === kind)
  if (found === undefined) throw new Error(`${PAGE} has no ${kind}`)
  return found
}
const containerOf = (kind: string): Container =>
  manifest(kind).spec.template?.spec.containers[0] ?? { env: [] }

describe(`the files of ${PAGE}`, () => {
  const project = projectFilesOf({ name: 'shop', database: 'postgres', authentication: 'oidc', nest: false })

  it('set variables that the project reads', () => {
    const sources = [...project].filter(([path]) => path.endsWith('.ts')).map(([, text]) => text)
    const names = ['Job', 'Deployment'].flatMap((kind) => containerOf(kind).env.map(({ name }) => name))
    expect(names).to.include.members(['ASHLAR_DATABASE_URL', 'OIDC_ISSUER', 'NODE_ENV'])
    expect(names.filter((name) => !sources.some((text) => text.includes(name)))).to.deep.equal([])
  })

  it('have the ports of its image, and a Service for each', () => {
    const { ports = [] } = containerOf('Deployment')
    const exposed = /^EXPOSE (.*)$/m.exec(project.get('Dockerfile') ?? '')?.[1] ?? ''
    expect(ports.map(({ containerPort }) => `${containerPort}`)).to.have.members(exposed.split(' '))
    const targets = manifest('Service').spec.ports?.map(({ targetPort }) => targetPort)
    expect(targets).to.have.members(ports.map(({ name }) => name))
  })

  it('probe the paths of the gateway, and end later than a shutdown', () => {
    const { livenessProbe, readinessProbe } = containerOf('Deployment')
    expect([livenessProbe?.httpGet.path, readinessProbe?.httpGet.path]).to.deep.equal(['/healthz', '/readyz'])
    const grace = manifest('Deployment').spec.template?.spec.terminationGracePeriodSeconds
    expect(grace).to.be.above(5 + 5)
  })

  it('migrate with the command line', () => {
    expect(containerOf('Job').command).to.deep.equal(['npx', 'ashlar', 'migrate', 'up'])
  })
})
