import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { watchStatements } from '../../../lib/persistence/engines/watch-statements.js'

/** The table of a tenant's resource, as statements of repositories name it. */
const TABLE = /\b(?:FROM|JOIN|UPDATE|INTO|USING) "specimens"(?! "Specimen"|\()/g
/** A comparison of the tenant, of any form, or the column of an INSERT. */
const TENANT =
  /"account_id" ?(?:=|IN\b)|\("account_id", "id"\) IN \(|= (?:\w+\.)?"account_id"|^INSERT INTO "specimens" \([^)]*"account_id"/g
/** With a value of the statement, which tells a distributed database where the rows are. */
const ROUTED = /^(?!.*\("account_id", "id"\) IN \().*"account_id" = \$\d|^INSERT INTO "specimens" \(/

/** Statements of a call of one tenant that do not name it. */
const WITHOUT_TENANT = {
  'a credential is verified by its public id, and says which tenant it is':
    /^SELECT .* FROM "specimens" WHERE "api_key_public_id" = \$1 AND "deleted_at" IS NULL ORDER BY "id" LIMIT 2$/,
  'a check of a credential that fails takes the work of the dearest spec of all tenants':
    /^SELECT DISTINCT "api_key_hashspec" FROM "specimens" WHERE "deleted_at" IS NULL$/,
  'a new public id is looked for':
    /^SELECT 1 AS found FROM "specimens" WHERE "api_key_public_id" = \$1 LIMIT 1$/,
} as const

/** Statements that name the tenant in a form that is no comparison with a value. */
const UNROUTED = {
  'several rows are updated by one statement':
    /^WITH l AS MATERIALIZED .* "account_id" = \(SELECT \$\d+::text\) .* UPDATE "specimens" t SET .* t\."account_id" = l\.tenant/,
  'expired rows are deleted':
    /^DELETE FROM "specimens" WHERE \("account_id", "id"\) IN \(WITH chosen AS MATERIALIZED \(SELECT .* AND "account_id" = \$2 LIMIT \$3 FOR UPDATE\) SELECT \* FROM chosen\)$/,
  'several calls share a statement': /^(?:SELECT k\.o|WITH k AS MATERIALIZED).* t\."account_id" = k\.v\d/,
  'several credentials are verified by one statement': /^SELECT k\.o\b.* t\."api_key_public_id" = k\.v0/,
} as const

const count = (text: string, what: RegExp): number => text.match(what)?.length ?? 0

/** How the statement names the tenant of the table. */
export const namesTenant = (text: string): 'as a value' | 'otherwise' | 'not at all' => {
  if (count(text, TENANT) < count(text, TABLE)) return 'not at all'
  return ROUTED.test(text) ? 'as a value' : 'otherwise'
}

const reasonIn = (reasons: Readonly<Record<string, RegExp>>, text: string): string =>
  Object.entries(reasons).find(([, form]) => form.test(text))?.[0] ?? text

type Listed = keyof typeof WITHOUT_TENANT | keyof typeof UNROUTED

/**
 * Records the statements of a suite, and checks them when it has ended. TypeORM's own are the application's.
 * @param sent - statements of those that are listed that the suite sends.
 */
export function tenantStatements(dataSource: () => DataSource, sent: readonly Listed[]): void {
  const without = new Set<string>()
  const unrouted = new Set<string>()
  let seen = 0
  let stop: () => void

  before(() => {
    stop = watchStatements(dataSource(), ({ text }) => {
      const line = text.replaceAll(/\s+/g, ' ')
      // The system reaches the rows of all tenants, and says so.
      if (count(line, TABLE) === 0 || RequestContext.current().tenant === undefined) return
      seen++
      const how = namesTenant(line)
      if (how === 'not at all') without.add(reasonIn({ ...WITHOUT_TENANT, ...UNROUTED }, line))
      if (how === 'otherwise') unrouted.add(reasonIn(UNROUTED, line))
    })
  })

  after('each statement of a tenant names it', () => {
    stop()
    expect(seen).to.be.greaterThan(500)
    const known = Object.keys({ ...WITHOUT_TENANT, ...UNROUTED })
    expect([...without, ...unrouted].filter((reason) => !known.includes(reason))).to.deep.equal([])
    // What is listed is sent.
    expect([...without, ...unrouted]).to.include.members([...sent])
  })

  it('finds a statement that does not name its tenant', () => {
    expect(namesTenant('SELECT "account_id", "id" FROM "specimens" WHERE "id" = $1')).to.equal('not at all')
    expect(
      namesTenant('SELECT 1 FROM "specimens" a JOIN "specimens" b ON true WHERE a."account_id" = $1'),
    ).to.equal('not at all')
    expect(namesTenant('INSERT INTO "specimens" ("id") VALUES ($1)')).to.equal('not at all')
    expect(namesTenant('DELETE FROM "specimens" WHERE "account_id" = $1 AND "id" = $2')).to.equal(
      'as a value',
    )
  })
}
