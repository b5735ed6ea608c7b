import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { HotDataSource } from '../../../lib/index.js'
import { migrate } from '../../../lib/migrations/index.js'
import { serviceUrl } from '../../support/running/services.js'
import { authority } from '../../support/servers/certificates.js'
import { type TlsDatabase, tlsDatabase } from '../../support/servers/tls-database.js'

type Outcome = 'encrypted' | 'plain' | 'refused'

/**
 * For a server whose authority the string names, one whose authority nobody knows, and one of another name.
 */
type Outcomes = readonly [known: Outcome, unknown: Outcome, otherName: Outcome]

const POSTGRES: Readonly<Record<string, Outcomes>> = {
  '': ['plain', 'plain', 'plain'],
  'sslmode=disable': ['plain', 'plain', 'plain'],
  'sslmode=allow': ['encrypted', 'refused', 'refused'],
  'sslmode=prefer': ['encrypted', 'refused', 'refused'],
  'sslmode=require': ['encrypted', 'refused', 'refused'],
  'sslmode=verify-ca': ['encrypted', 'refused', 'refused'],
  'sslmode=verify-full': ['encrypted', 'refused', 'refused'],
  'sslmode=no-verify': ['encrypted', 'encrypted', 'encrypted'],
  'uselibpqcompat=true&sslmode=prefer': ['encrypted', 'encrypted', 'encrypted'],
  'uselibpqcompat=true&sslmode=require': ['encrypted', 'encrypted', 'encrypted'],
  'uselibpqcompat=true&sslmode=verify-full': ['encrypted', 'refused', 'refused'],
}

const ssl = (options: object) => `ssl=${encodeURIComponent(JSON.stringify(options))}`

for (const dialect of ['postgres', 'mysql'] as const)
  describe(`TLS to ${dialect}`, function () {
    const ours = authority('the authority of this run')
    const folder = mkdtempSync(join(tmpdir(), 'ashlar-tls-'))
    const file = join(folder, 'ca.pem')
    let database: TlsDatabase | undefined

    before(async function () {
      const url = serviceUrl(dialect)
      if (url === undefined) return this.skip()
      writeFileSync(file, ours.certificate)
      database = await tlsDatabase(url, ours.issue('database'))
    })
    after(async () => {
      await database?.close()
      rmSync(folder, { recursive: true })
    })

    const urlOf = (host: string, query: string): string => {
      const url = new URL(serviceUrl(dialect) ?? '')
      url.host = `${host}:${database?.port ?? 0}`
      url.search = query
      return url.href
    }
    const outcomeOf = async (connects: () => Promise<unknown>): Promise<Outcome> => {
      const sessions = database?.sessions ?? { encrypted: 0, plain: 0 }
      const before = { ...sessions }
      try {
        await connects()
      } catch {
        return 'refused'
      }
      return sessions.plain > before.plain ? 'plain' : 'encrypted'
    }
    const byDataSource = (dsn: string) =>
      outcomeOf(async () => {
        const source = new HotDataSource({ dsn, loginGraceMs: 0, entities: [] })
        await source.initialize()
        await source.query('SELECT 1').finally(() => source.destroy())
      })
    const byMigrations = (url: string) => outcomeOf(() => migrate({ url, files: {} }).status())
    const both = async (host: string, query: string): Promise<Outcome> => {
      const url = urlOf(host, query)
      const [one, other] = [await byDataSource(url), await byMigrations(url)]
      expect(other, `migrations: ${query}`).to.equal(one)
      return one
    }
    const joined = (...parts: readonly string[]) => parts.filter((part) => part !== '').join('&')

    if (dialect === 'postgres')
      for (const [query, wanted] of Object.entries(POSTGRES))
        it(`is what docs say: ${query === '' ? 'nothing' : query}`, async () => {
          // Without TLS there is nothing to check; with a root, require of libpq is verify-ca.
          const root = /^$|disable$|true&sslmode=require$/.test(query)
            ? ''
            : `sslrootcert=${encodeURIComponent(file)}`
          const known = await both('localhost', joined(query, root))
          const unknown = await both('localhost', query)
          const otherName = await both(hostname(), joined(query, root))
          expect([known, unknown, otherName]).to.deep.equal(wanted)
        })
    else {
      it('is off without ssl, and refused where somebody says sslmode, which the driver ignores', async () => {
        expect(await both('localhost', '')).to.equal('plain')
        for (const mode of ['disable', 'require', 'verify-full'])
          expect(await both('localhost', `sslmode=${mode}`)).to.equal('refused')
      })

      it('checks the authority with ssl, and the name only with verifyIdentity', async () => {
        const ca = ours.certificate
        expect(await both('localhost', ssl({}))).to.equal('refused')
        expect(await both('localhost', ssl({ rejectUnauthorized: false }))).to.equal('encrypted')
        expect(await both('localhost', ssl({ ca }))).to.equal('encrypted')
        expect(await both(hostname(), ssl({ ca }))).to.equal('encrypted')
        expect(await both('localhost', ssl({ ca, verifyIdentity: true }))).to.equal('encrypted')
        expect(await both(hostname(), ssl({ ca, verifyIdentity: true }))).to.equal('refused')
        expect(await both('localhost', 'ssl=true')).to.equal('refused')
      })
    }
  })
