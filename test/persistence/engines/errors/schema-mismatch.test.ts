import { expect } from 'chai'
import { isSchemaMismatch } from '../../../../lib/persistence/engines/errors/constraint-error.js'
import { executorOf } from '../../../../lib/persistence/engines/executor-of.js'
import { Specimen } from '../../../support/entities/specimen.js'
import { databases, describeOn } from '../../../support/databases/backends.js'

describeOn('an error of a statement', databases, (backend) => {
  const STATEMENTS: Readonly<Record<string, boolean>> = {
    'SELECT no_column FROM schema_mismatch': true,
    'INSERT INTO schema_mismatch (no_column) VALUES (1)': true,
    'UPDATE schema_mismatch SET no_column = 1': true,
    'SELECT 1 FROM no_table': true,
    'SELECT FROM WHERE': false,
    'INSERT INTO schema_mismatch (id) VALUES (NULL)': false,
  }

  it('says whether the database lacks a column or a table', async () => {
    const { dataSource, close } = await backend.open([Specimen])
    try {
      await dataSource!.query('CREATE TABLE schema_mismatch (id int NOT NULL)')
      const database = executorOf(dataSource!)
      const found: Record<string, boolean> = {}
      for (const [index, text] of Object.keys(STATEMENTS).entries())
        found[text] = await database.run({ name: `schema_mismatch_${index}`, text }, []).then(
          () => false,
          (error: unknown) => isSchemaMismatch(error),
        )
      expect(found).to.deep.equal(STATEMENTS)
    } finally {
      await close()
    }
  })
})
