import { expect } from 'chai'
import { DataSource } from 'typeorm'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { HotDataSource } from '../../../lib/persistence/hot-reload/hot-data-source.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import type { Config } from '../../../lib/server/config/config.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { Traffic } from './traffic.js'

/** Servers that a drill starts for itself and takes away. */
export const ENGINES = [
  { engine: 'postgres', service: 'postgres', port: 5432, type: 'postgres' },
  { engine: 'mariadb', service: 'mysql', port: 3306, type: 'mariadb' },
] as const

export type Engine = (typeof ENGINES)[number]

export const SOURCES = ['DataSource', 'HotDataSource'] as const

interface WriteOptions {
  /** Of each widget. */
  readonly description?: string
  readonly config?: Config
  readonly headers?: (name: string) => Readonly<Record<string, string>>
}

/** A server of widgets on a database, with traffic on it. */
export class ServedWrites {
  private constructor(
    readonly traffic: Traffic,
    private readonly running: RunningServer,
    private readonly dataSource: DataSource,
    private readonly direct: DataSource,
    private readonly send: (name: string, headers: Readonly<Record<string, string>>) => Promise<Response>,
  ) {}

  /**
   * @param address - where the database is found. @param direct - an address that no outage concerns.
   * @param description - of each widget.
   */
  static async start(
    { type, engine }: Engine,
    source: (typeof SOURCES)[number],
    address: string,
    direct: string,
    description = '',
  ): Promise<ServedWrites> {
    const admin = await new DataSource({ type, url: direct, entities: [Widget] }).initialize()
    await createTables(admin, [Widget], engine)
    const dataSource =
      source === 'DataSource'
        ? new DataSource({ type, url: address, entities: [Widget], poolSize: 4 })
        : new HotDataSource({ dsn: address, entities: [Widget], poolSize: 4 })
    return ServedWrites.on(await dataSource.initialize(), admin, { description })
  }

  /** @param direct - the same database, for reading what it holds. */
  static async on(
    dataSource: DataSource,
    direct: DataSource,
    { description = '', config = {}, headers = () => ({}) }: WriteOptions = {},
  ): Promise<ServedWrites> {
    const widgets = new TypeormRepository(dataSource, Widget)
    const running = await startServer(
      (builder) => builder.register(WidgetService, widgets, { retireWidget: () => ({}) }),
      { resilience: { requestTimeoutMs: 1_000 }, ...config },
    )
    const write = (name: string, more = headers(name)) =>
      fetch(`${running.http}/v1/widgets`, post({ ...ALICE, ...more }, { displayName: name, description }))
    return new ServedWrites(new Traffic(running.http, write), running, dataSource, direct, write)
  }

  /** Writes once, without the headers of the traffic. */
  write(name: string): Promise<Response> {
    return this.send(name, {})
  }

  /** Ends the traffic, and looks for each acknowledged write. */
  async end(): Promise<void> {
    await this.traffic.stop()
    await this.running.stop()
    const rows: { display_name: string }[] = await this.direct.query('SELECT display_name FROM widgets')
    const stored = new Set(rows.map(({ display_name: name }) => name))
    await this.dataSource.destroy()
    if (this.direct !== this.dataSource) await this.direct.destroy()
    expect(this.traffic.acknowledged.filter((name) => !stored.has(name))).to.deep.equal([])
  }
}
