import { expect } from 'chai'
import { migrate, type MigrateOptions, type Progress } from '../../../lib/migrations/index.js'
import { file, onEachEngine } from '../each-engine.js'

onEachEngine('what the server says in notices', (database, dialect) => {
  const told = async (
    files: MigrateOptions['files'],
    options: Partial<MigrateOptions> = {},
  ): Promise<readonly Progress[]> => {
    const progress: Progress[] = []
    const onProgress = (event: Progress) => progress.push(event)
    await migrate({ url: database().url, files, ...options, onProgress }).up()
    return progress
  }
  const noticesOf = (progress: readonly Progress[]) =>
    progress.flatMap((event) => (event.kind === 'notice' ? [[event.severity, event.text]] : []))

  const SPOKEN: Readonly<
    Record<typeof dialect, readonly (readonly [severity: string, sql: string, text: RegExp])[]>
  > = {
    postgres: [
      ['NOTICE', "DO $$ BEGIN RAISE NOTICE 'made % rows', 3; END $$", /^made 3 rows$/],
      ['WARNING', "DO $$ BEGIN RAISE WARNING 'look at t2'; END $$", /^look at t2$/],
      ['INFO', "DO $$ BEGIN RAISE INFO 'half'; END $$", /^half$/],
      ['NOTICE', 'DROP TABLE IF EXISTS nowhere', /^table "nowhere" does not exist, skipping$/],
    ],
    mysql: [
      ['NOTE', 'DROP TABLE IF EXISTS nowhere', /^Unknown table '.*nowhere'$/],
      [
        'WARNING',
        "INSERT IGNORE INTO short VALUES ('longer')",
        /^Data truncated for column 'name' at row 1$/,
      ],
      ['WARNING', 'CALL warn_me()', /^look at t2$/],
      ['WARNING', "SELECT CAST('12x' AS SIGNED)", /^Truncated incorrect INTEGER value$/],
    ],
  }
  for (const [severity, sql, text] of SPOKEN[dialect])
    it(`is told: ${severity} of ${sql}`, async () => {
      if (dialect === 'mysql') {
        await database().rows('CREATE TABLE short (name varchar(2))')
        await database().rows('DROP PROCEDURE IF EXISTS warn_me')
        await database().rows(
          "CREATE PROCEDURE warn_me() SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'look at t2'",
        )
      }
      const progress = await told(file('0002_a', sql, ''))
      const [notice, ...more] = noticesOf(progress)
      expect(more).to.deep.equal([])
      expect(notice?.[0]).to.equal(severity)
      expect(notice?.[1]).to.match(text)
      const kinds = progress.map(({ kind }) => kind)
      expect(kinds.indexOf('notice')).to.be.within(
        kinds.indexOf('statement') + 1,
        kinds.lastIndexOf('statement') - 1,
      )
    })

  it('is nothing where the server says nothing', async () => {
    expect(noticesOf(await told(file('0002_a', 'CREATE TABLE a (id bigint)', '')))).to.deep.equal([])
  })

  if (dialect === 'postgres')
    it('is told although the user’s settings silence it, and without the password', async () => {
      await database().rows(`ALTER DATABASE ${database().name} SET client_min_messages = error`)
      const url = database().url.replace('postgres@', 'postgres:correct-horse@')
      const sql = "DO $$ BEGIN RAISE NOTICE 'it is correct-horse'; END $$"
      expect(noticesOf(await told(file('0002_a', sql, ''), { url }))).to.deep.equal([['NOTICE', 'it is ***']])
    })
})
