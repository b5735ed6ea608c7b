import { DeclarationError } from '../errors.js'
import type { ResourceModel } from '../resource/resource-model.js'
import type { Database } from './executor.js'

/** Collations that tell `ACME`, `acme` and `acme ` apart. */
const EXACT = new Set(['utf8mb4_nopad_bin', 'utf8mb4_0900_bin', 'utf8mb3_nopad_bin', 'binary'])
const COLLATIONS = {
  name: 'ashlar_collations',
  text: 'SELECT column_name, collation_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?',
}

/**
 * Makes sure, once, that MySQL compares the columns that tell rows apart exactly: by its usual collations, tenant `ACME`
 * would read the rows of `acme`.
 */
export class CollationCheck {
  /** Whether `run` still has to be awaited; false at once on other databases. */
  isPending: boolean

  constructor(
    private readonly database: Database,
    private readonly model: ResourceModel,
  ) {
    this.isPending = database.dialect === 'mysql' || database.dialect === 'mariadb'
  }

  /** @throws DeclarationError with every column that has another collation. A table that is not there yet passes. */
  async run(): Promise<void> {
    const { rows } = await this.database.run(COLLATIONS, [this.model.table])
    const problems = problemsOf(
      this.model,
      new Map(rows.map(([column, collation]) => [String(column), String(collation)])),
    )
    if (problems.length > 0) throw new DeclarationError(this.model.entity.name, problems)
    this.isPending = rows.length === 0
  }
}

function problemsOf(model: ResourceModel, collations: ReadonlyMap<string, string>): string[] {
  const hashes = [
    ...model.secrets.map(({ hash }) => hash),
    ...model.credentials.map(({ publicId }) => publicId),
  ]
  return [model.key, model.tenant, ...hashes].flatMap((field) => {
    const collation = field && collations.get(field.column)
    return field === undefined || collation === undefined || EXACT.has(collation)
      ? []
      : [
          `${field.proto} has the collation ${collation}, which takes different texts for the same: use utf8mb4_nopad_bin (MariaDB) or utf8mb4_0900_bin (MySQL 8)`,
        ]
  })
}
