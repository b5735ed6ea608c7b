import { type SentStatement, watchStatements } from '../../persistence/index.js'

/** A captured statement. */
export interface CapturedStatement {
  readonly text: string
  /** The number of bound values. */
  readonly parameters: number
  /** The number of repository calls that the statement serves. */
  readonly calls: number
  /** The bound values, recorded only on request, because they are client input. */
  readonly values?: readonly unknown[]
}

/** The statements that a DataSource sends during the capture. */
export interface CapturedSql {
  readonly statements: readonly CapturedStatement[]
  /** The statements except `BEGIN`, `COMMIT`, `ROLLBACK` and savepoints. */
  readonly queries: readonly CapturedStatement[]
  /** Deletes the captured statements. */
  clear(): void
  /** Stops capturing. */
  stop(): void
}

const CONTROL = /^\s*(BEGIN|START TRANSACTION|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i

/**
 * Captures the statements of a DataSource, sent by repositories or TypeORM's own API, until `stop`.
 * @param options - `values: true` also records the bound values.
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

const captured = ({ text, values, calls }: SentStatement, withValues: boolean): CapturedStatement => ({
  text,
  parameters: values.length,
  calls,
  ...(withValues && { values }),
})
