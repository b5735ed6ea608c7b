import 'reflect-metadata'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AshlarModule, OnEvent, provideConsumers } from '../../../lib/nest/index.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'
import { recordingLogger } from '../../support/servers/server.js'

class Mails {
  @OnEvent({ name: 'mails' })
  send(): Promise<void> {
    return Promise.resolve()
  }
}

/** Prints why an application with a consumer of NATS does not start. */
const folder = mkdtempSync(join(tmpdir(), 'ashlar-on-event-'))
const dataSource = new SqliteDataSource({ database: join(folder, 'test.db'), entities: [] })
@Module({
  imports: [AshlarModule.forRoot({ grpcAddr: '127.0.0.1:0', logger: recordingLogger(), dataSource })],
  providers: [Mails, provideConsumers(Mails, { nats: { servers: 'nats://127.0.0.1:1' } })],
})
class App {}
const said = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false }).then(
  () => 'started',
  (error: unknown) => String(error),
)
rmSync(folder, { recursive: true, force: true })
process.stdout.write(said, () => process.exit())
