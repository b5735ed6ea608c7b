import { type SentStatement, watchStatements } from '../../persistence/index.js'

/** A statement that was sent. */
export interface CapturedStatement {
  readonly text: string
  /** How many values were bound. */
  readonly parameters: number
  /** The values, only when they were asked for: they are what clients sent. */
  readonly values?: readonly unknown[]
}

/** What is sent through a DataSource while it is captured. */
export interface CapturedSql {
  readonly statements: readonly CapturedStatement[]
  /** Statements without `BEGIN`, `COMMIT`, `ROLLBACK` and savepoints. */
  readonly queries: readonly CapturedStatement[]
  /** Forgets what was sent so far. */
  clear(): void
  /** Captures no more. */
  stop(): void
}

const CONTROL = /^\s*(BEGIN|START TRANSACTION|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i

/**
 * Captures the statements of a DataSource, those of repositories and of TypeORM's own API, until `stop`.
 * @param options - `values: true` keeps what was bound too.
 */
export function captureSql(
  dataSource: Parameters<typeof watchStatements>[0],
  { values = false }: { readonly values?: boolean } = {},
): CapturedSql {
  const statements: CapturedStatement[] = []
  const stop = watchStatements(dataSource, (sent) => void statements.push(captured(sent, values)))
  return {
    statements,
    get queries() {
      return statements.filter(({ text }) => !CONTROL.test(text))
    },
    clear: () => void statements.splice(0),
    stop,
  }
}

const captured = ({ text, values }: SentStatement, withValues: boolean): CapturedStatement => ({
  text,
  parameters: values.length,
  ...(withValues && { values }),
})
