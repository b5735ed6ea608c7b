/** Words that start a constraint in the column list of CREATE TABLE, on every engine. */
export const CONSTRAINTS: readonly string[] = [
  'CONSTRAINT',
  'PRIMARY',
  'UNIQUE',
  'FOREIGN',
  'CHECK',
  'EXCLUDE',
  'LIKE',
]
