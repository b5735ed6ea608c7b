import { expect } from 'chai'
import { attempt } from '../../../cli/migrate/attempt.js'
import { Failure } from '../../../cli/errors/failure.js'
import { rejection } from '../../support/rejection.js'

describe('what a migration throws at the command line', () => {
  for (const text of [
    'migrations: a problem',
    'migrations on MySQL need the package mysql2: npm install mysql2',
  ])
    it(`is a mistake of the input: ${text}`, async () => {
      const failure = await rejection(
        attempt(() => Promise.reject(new TypeError(text))),
        Failure,
      )
      expect(failure).to.include({ exit: 'input', message: text })
    })
})
