import { expect } from 'chai'
import { engineOf } from '../../../lib/migrations/engines.js'
import { splitStatements } from '../../../lib/migrations/sql/split-statements.js'
import { type Dialect, lintFiles, migrate } from '../../../lib/migrations/index.js'
import {
  type LiveSchema,
  type SchemaComparison,
  schemaComparison,
  type SchemaModel,
  schemaModel,
  type SchemaTables,
  type SchemaVersion,
} from '../../../lib/persistence/index.js'
import { freshDatabase, type FreshDatabase, type Row } from '../../migrations/fresh-database.js'
import { serviceUrl } from '../../support/running/services.js'
import { asMysql8 } from './as-mysql8.js'
import { entitiesOf, type Model, type Property } from './random-model.js'

export type Server = 'postgres' | 'mariadb' | 'mysql8'

const dialectOf = (server: Server): Dialect => (server === 'postgres' ? 'postgres' : 'mysql')

/** A model whose tables were made and read once, since making them is most of the work. */
interface Wanted {
  readonly model: Model
  readonly entities: readonly unknown[]
  readonly schema: SchemaModel
  readonly tables: SchemaTables
}

/** A database that changes from one model to another, in two deployments, and back. */
export class ChangedDatabase {
  readonly #dialect: Dialect
  readonly #versions: SchemaVersion[] = []

  private constructor(
    private readonly server: Server,
    private readonly database: FreshDatabase,
    private readonly scratch: FreshDatabase,
    private readonly runs: 'files' | 'statements',
  ) {
    this.#dialect = dialectOf(server)
  }

  /**
   * Undefined where the run does without the server.
   * @param runs - the files by the migrator, or their statements alone, which is several times as quick.
   */
  static async open(server: Server, runs: 'files' | 'statements'): Promise<ChangedDatabase | undefined> {
    const url = serviceUrl(dialectOf(server))
    if (url === undefined) return undefined
    const opened = new ChangedDatabase(server, await freshDatabase(url), await freshDatabase(url), runs)
    if (runs === 'files') await opened.#migrator().up()
    return opened
  }

  async drop(): Promise<void> {
    await this.database.drop()
    await this.scratch.drop()
  }

  /**
   * Fails where a file is dangerous or cannot run, an image of either model cannot write meanwhile, a value
   * is lost, `verify` names what the plan does not, or the way back does not lead to the first schema.
   */
  async change(before: Model, after: Model): Promise<void> {
    await this.#back(0)
    const { database } = this
    const [old, now] = [await this.#wanted(before), await this.#wanted(after)]
    await this.#apply((await this.#changes(old)).expand)
    expect(await this.#verify(old), 'the first model').to.deep.equal([])
    const first = this.#versions.length
    await database.rows(`INSERT INTO owners (id) VALUES ('o')`)
    for (const row of ['r1', 'r2', 'r3']) await this.#insert(before, row, after)
    const [rows, schema] = [await this.#kept(old, now, 'before'), await this.#contents()]

    const { expand, byHand } = await this.#changes(now)
    await this.#apply(expand)
    const left = await this.#changes(now)
    expect(JSON.stringify(left.expand), 'nothing more to expand').to.equal('[]')
    for (const line of await this.#verify(now))
      expect([...left.left, ...left.byHand].map(keyOf), 'what is left').to.include(keyOf(line))
    await this.#insert(before, 'old', after)
    await this.#insert(after, 'new', before)
    await this.#insert(after, 'new2', before)
    expect(await this.#kept(old, now, 'after'), 'rows after').to.deep.equal(rows)

    expect(byHand, 'by hand').to.deep.equal([])
    for (const statement of this.#fillNulls(after)) await database.rows(statement)
    await this.#apply(left.contract)
    expect(await this.#verify(now), 'the second model').to.deep.equal([])
    const { expand: more, contract, left: rest, byHand: others } = await this.#changes(now)
    expect([more, contract, rest, others], 'nothing is left').to.deep.equal([[], [], [], []])
    expect(await this.#kept(old, now, 'after'), 'rows at last').to.deep.equal(rows)

    await this.#back(first)
    expect(await this.#verify(old), 'the first model again').to.deep.equal([])
    const contents = await this.#contents()
    const [lost, more_] = [differing(schema, contents), differing(contents, schema)]
    expect({ lost, left: more_ }, 'the first schema again').to.deep.equal({ lost: [], left: [] })
    expect(await this.#kept(old, now, 'before'), 'rows again').to.deep.equal(rows)
  }

  #migrator() {
    return migrate({ url: this.database.url, files: this.#files })
  }

  async #wanted(model: Model): Promise<Wanted> {
    const entities = entitiesOf(model)
    const schema = schemaModel(entities)
    await this.scratch.rows('DROP TABLE IF EXISTS things, baskets, owners')
    await schema.make(this.#live(this.scratch))
    return { model, entities, schema, tables: await schema.read(this.#live(this.scratch)) }
  }

  async #changes({ schema, tables }: Wanted) {
    return schema.changes(await schema.read(this.#live(this.database)), tables)
  }

  #verify({ entities }: Wanted): ReturnType<SchemaComparison> {
    return schemaComparison(entities)(this.#live(this.database))
  }

  #live(one: FreshDatabase): LiveSchema {
    const live: LiveSchema = {
      dialect: this.#dialect,
      schema: this.#dialect === 'postgres' ? 'public' : '',
      rows: (text, values = []) => one.rows(withValues(text, values)),
    }
    return this.server === 'mysql8' ? asMysql8(live) : live
  }

  async #contents(): Promise<readonly string[]> {
    const rows = await this.database.rows(engineOf(this.#dialect).scratch.contents)
    return rows.map(({ object, definition }) => `${String(object)}: ${String(definition)}`).sort()
  }

  get #files(): Readonly<Record<string, string>> {
    const files = this.#versions.map(({ what, up, down }, at) => {
      const name = `${String(at + 2).padStart(4, '0')}_${what}`
      return { [`${name}.up.sql`]: up, [`${name}.down.sql`]: down }
    })
    return Object.assign({}, ...files) as Readonly<Record<string, string>>
  }

  async #apply(versions: readonly SchemaVersion[]): Promise<void> {
    const there = Object.keys(this.#files)
    this.#versions.push(...versions)
    if (versions.length === 0) return
    const findings = await lintFiles(this.#files, this.#dialect)
    const dangers = findings.filter(({ level, file }) => level !== 'advice' && !there.includes(file))
    expect(JSON.stringify(dangers), 'lint').to.equal('[]')
    if (this.runs === 'files') await this.#migrator().up()
    else for (const { up } of versions) await this.#run(up)
  }

  async #back(to: number): Promise<void> {
    if (this.#versions.length === to) return
    if (this.runs === 'files') await this.#migrator().down(to + 1)
    const undone = this.#versions.splice(to).reverse()
    if (this.runs === 'statements') for (const { down } of undone) await this.#run(down)
  }

  async #run(sql: string): Promise<void> {
    for (const { text } of splitStatements(sql, engineOf(this.#dialect).syntax).statements)
      await this.database.rows(text)
  }

  /** What a property holds in a row, as SQL. @param other - the values fit it, too. */
  #valueOf({ name, kind, width }: Property, row: string, other: Model): string {
    const twin = other.properties.find((one) => one.name === name)
    switch (kind) {
      case 'text':
        return `'${row} it''s'`
      case 'number':
        return width === 0 || twin?.width === 0 || !row.startsWith('r') ? '2147483647' : '9007199254740993'
      case 'flag':
        return this.#dialect === 'postgres' ? 'TRUE' : '1'
      case 'time':
        return TIME
      case 'fraction':
        return '0.25'
      case 'bytes':
        return this.#dialect === 'postgres' ? String.raw`'\x616200'` : `X'616200'`
      case 'json':
      case 'tags':
        return `'{"a":"b"}'`
    }
  }

  /** Writes the row that an image of this model writes. It knows no other columns. */
  async #insert(model: Model, row: string, other: Model): Promise<void> {
    const values: readonly (readonly [string, string])[] = [
      ['account_id', `'t'`],
      ['id', `'${row}'`],
      ...model.properties.map((one): [string, string] => [one.name, this.#valueOf(one, row, other)]),
      ...(model.hasEtag ? [['etag', `'${row}'`] as const] : []),
      ...(model.hasTimes
        ? ([
            ['create_time', TIME],
            ['update_time', TIME],
          ] as const)
        : []),
      ...(model.owner === 'none' ? [] : [['owner_id', `'o'`] as const]),
    ]
    await this.database.rows(
      `INSERT INTO things (${values.map(([name]) => name).join(', ')}) VALUES (${values.map(([, value]) => value).join(', ')})`,
    )
  }

  /**
   * The columns of the first model that the second one has too, by their new names; as text, since types may
   * differ.
   */
  #kept({ model: before }: Wanted, { model: after }: Wanted, now: 'before' | 'after'): Promise<Row[]> {
    const columns = before.properties.flatMap(({ name }) => {
      const later = after.properties.find((one) => one.name === name || one.renamedFrom === name)
      if (later === undefined) return []
      const column = now === 'before' ? name : later.name
      return [
        this.#dialect === 'postgres'
          ? `${column}::text AS c_${name}`
          : `CAST(${column} AS CHAR) AS c_${name}`,
      ]
    })
    const server = [
      ...(before.hasEtag && after.hasEtag ? ['etag'] : []),
      ...(before.hasTimes && after.hasTimes ? ['create_time'] : []),
      ...(before.owner !== 'none' && after.owner !== 'none' ? ['owner_id'] : []),
    ]
    return this.database.rows(
      `SELECT ${['id', ...columns, ...server].join(', ')} FROM things WHERE id IN ('r1', 'r2', 'r3') ORDER BY id`,
    )
  }

  /** What only somebody who knows the values can do before the contract. */
  #fillNulls(model: Model): readonly string[] {
    const required = model.properties.filter(({ nullable, kind }) => !nullable || kind === 'tags')
    const values: readonly (readonly [string, string])[] = [
      ...required.map((one): [string, string] => [
        one.name,
        one.kind === 'text' ? 'id' : this.#valueOf(one, 'x', model),
      ]),
      ...(model.hasTimes
        ? ([
            ['create_time', TIME],
            ['update_time', TIME],
          ] as const)
        : []),
      ...(model.owner === 'required' ? [['owner_id', `'o'`] as const] : []),
    ]
    return values.map(([name, value]) => `UPDATE things SET ${name} = ${value} WHERE ${name} IS NULL`)
  }
}

const keyOf = (value: object): string => JSON.stringify(value)

const differing = (some: readonly string[], others: readonly string[]): readonly string[] =>
  some.filter((one) => !others.includes(one))

const TIME = `'2024-02-29 12:34:56.789012'`

/** The values are names that the framework wrote. */
function withValues(text: string, values: readonly unknown[]): string {
  let at = 0
  if (values.length === 0) return text
  return text.replaceAll('?', () => {
    const value = values[at++]
    return value === null || value === undefined ? 'NULL' : `'${String(value)}'`
  })
}
