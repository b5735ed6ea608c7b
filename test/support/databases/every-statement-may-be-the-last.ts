import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { ConnectionKiller, type Killing } from './connection-killer.js'

/** More statements than any of the operations sends. */
const MAX_STATEMENTS = 60

/** The maximum pool size. */
const POOL = 8

/** An operation and its effects. */
export interface Killable<T> {
  /** Restores the database's state before the operation. */
  prepare(): Promise<void>
  operation(): Promise<T>
  /**
   * Throws unless the error is that of a lost connection.
   *
   * @param isCommit - true if the lost statement was the last one.
   */
  refused(error: unknown, isCommit: boolean): void
  /** Throws unless either everything was written or nothing. */
  left(is: 'nothing' | 'everything'): Promise<void>
}

/**
 * Kills the connection before the 1st, 2nd, 3rd … statement of the operation's transaction. Each time the
 * operation must fail without an effect, and must succeed when it is called again. The connection must not be
 * reused, and no transaction may stay open.
 *
 * @returns the number of statements in the transaction.
 */
export async function everyStatementMayBeTheLast<T>(
  dataSource: DataSource,
  { prepare, operation, refused, left }: Killable<T>,
): Promise<number> {
  const killer = new ConnectionKiller(dataSource)
  const succeeds = async (position: number): Promise<Killing<T>> => {
    const done = await killer.killing(0, operation)
    if (done.outcome.status === 'rejected') throw done.outcome.reason
    await left('everything').catch((error: Error) => {
      error.message = `after a connection lost before statement ${position}: ${error.message}`
      throw error
    })
    return done
  }
  await prepare()
  const { sent } = await succeeds(0)
  expect(sent).to.be.within(3, MAX_STATEMENTS)
  for (let position = 1; position <= sent; position++) {
    const at = `statement ${position} of ${sent}`
    await prepare()
    const { killed, outcome } = await killer.killing(position, operation)
    if (killed === undefined || outcome.status === 'fulfilled') return expect.fail(`${at} was not lost`)
    refused(outcome.reason, position === sent)
    await killer.idle()
    await left('nothing')
    expect(await killer.handedOut(POOL), at).to.not.include(killed)
    await succeeds(position)
  }
  return sent
}
