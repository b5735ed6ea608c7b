import 'reflect-metadata'
import { expect } from 'chai'
import { Injectable, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ReceivedEvent } from '../../lib/events/consumer/received-event.js'
import { AshlarModule, OnEvent, provideConsumers } from '../../lib/nest/index.js'
import { emit } from '../../lib/persistence/emit.js'
import { SqliteDataSource } from '../../lib/persistence/sqlite-data-source.js'
import { transaction } from '../../lib/persistence/sql/transaction.js'
import { inAcme } from '../conformance/repository/subject.js'
import { withoutPackages } from '../support/projects/missing-packages.js'
import { until } from '../support/until.js'
import { recordingLogger } from '../support/servers/server.js'
import { rejection } from '../support/rejection.js'

class Paid {
  readonly keys: string[] = []

  @OnEvent({ name: 'paid', subject: { resource: 'order', verb: 'paid' } })
  paid({ key }: ReceivedEvent): Promise<void> {
    this.keys.push(key)
    return Promise.resolve()
  }
}

@Injectable()
class Orders extends Paid {
  readonly tenants: string[] = []

  @OnEvent({ name: 'any' })
  any({ tenant }: ReceivedEvent): Promise<void> {
    this.tenants.push(tenant)
    return Promise.resolve()
  }
}

@Injectable()
class Nothing {}

describe('OnEvent', () => {
  let [folder, dataSource]: [string, SqliteDataSource] = [] as never
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-on-event-'))
    dataSource = new SqliteDataSource({ database: join(folder, 'test.db'), entities: [] })
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const app = (provider: new () => object, withDataSource = true) => {
    const options = {
      grpcAddr: '127.0.0.1:0',
      logger: recordingLogger(),
      ...(withDataSource ? { dataSource } : {}),
    }
    @Module({ imports: [AshlarModule.forRoot(options)], providers: [provider, provideConsumers(provider)] })
    class App {}
    return NestFactory.createApplicationContext(App, { logger: false, abortOnError: false })
  }

  it('handles events while the application runs, also of the class that a provider extends', async () => {
    const one = await app(Orders)
    const orders = one.get(Orders)
    const pay = (key: string) =>
      inAcme(() => transaction(dataSource, () => emit({ resource: 'order', verb: 'paid', key })))
    await pay('o-1')
    await inAcme(() => transaction(dataSource, () => emit({ resource: 'order', verb: 'sent', key: 'o-1' })))
    await until(() => orders.keys.length === 1 && orders.tenants.length === 2)
    await one.close()
    expect(orders).to.deep.include({ keys: ['o-1'], tenants: ['acme', 'acme'] })
    expect(dataSource.isInitialized).to.equal(false)
  })

  it('is refused without the packages of NATS, which it names', async () => {
    const host = fileURLToPath(new URL('hosts/consumers-of-nats.js', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [withoutPackages('@nats-io/'), host])
    expect(stdout).to.equal(
      'TypeError: stream:mails: NATS requires packages: npm install @nats-io/jetstream @nats-io/transport-node',
    )
  })

  it('is refused where nothing is declared, without a DataSource, and in the newer kind of decorators', async () => {
    await rejection(app(Nothing), TypeError, 'no method with @OnEvent')
    await rejection(app(Orders, false), TypeError, 'needs a dataSource')
    expect(() => OnEvent({ name: 'x' })(() => {}, { kind: 'method' } as never, {})).to.throw(
      TypeError,
      'experimentalDecorators',
    )
  })
})
