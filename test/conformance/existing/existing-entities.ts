import 'reflect-metadata'
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, Unique } from 'typeorm'
import {
  CreateTime,
  Emits,
  ETag,
  OutputOnly,
  Resource,
  SoftDeletable,
  TenantScoped,
  UpdateTime,
} from '../../../decorators/index.js'
import type { BackendName } from '../../support/databases/backends.js'
import { type Specimen_Phase, SpecimenSchema } from '../../support/gen/specimens_pb.js'

/** Every kind of column, and NULL behind each field without presence. The primary key is the id alone. */
@Resource({ message: SpecimenSchema, existing: true })
@Entity('quarried')
@TenantScoped()
@SoftDeletable()
export class Quarried {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ type: 'varchar', length: 100, nullable: true }) title!: string
  @Column({ type: 'text', nullable: true }) note?: string
  @Column({ type: Boolean, nullable: true }) active!: boolean
  @Column({ type: Number, nullable: true }) count!: number
  @Column({ type: 'bigint', nullable: true }) weight!: number
  @Column({ type: 'bigint', nullable: true }) big!: bigint
  @Column({ type: 'bigint', nullable: true }) huge!: bigint
  @Column({ type: 'real', nullable: true }) ratio!: number
  @Column({ type: 'double precision', nullable: true }) score!: number
  @Column({ type: String, nullable: true }) blob!: Uint8Array
  @Column({ type: String, nullable: true }) phase!: Specimen_Phase
  @Column({ type: Date, nullable: true }) dueTime?: Date
  @Column({ type: 'bigint', nullable: true }) span?: bigint
  @Column({ type: 'simple-json', nullable: true }) labels!: string[]
  @Column({ type: 'simple-json', nullable: true }) origin?: object
  @Column({ type: 'simple-json', nullable: true }) tags!: Record<string, string>
  @Column({ type: Number, nullable: true }) rank?: number
  @Column({ type: 'varchar', length: 64, nullable: true }) code!: string
  @Column({ type: 'varchar', length: 64, nullable: true }) @OutputOnly({ filterable: true }) serial!: string
  @CreateTime({ filterable: true }) createTime!: Date
  @UpdateTime({ filterable: true }) updateTime!: Date
  @ETag() etag!: string
  @Column({ type: Date, nullable: true }) expireTime?: Date
  @Column({ type: String, nullable: true }) webhookSecret?: string
  @Column({ type: String, nullable: true }) @OutputOnly() apiKey?: string
  @Column({ length: 64 }) accountId!: string
  deleteTime?: Date
}

/** Refers to one, by its id alone. */
@Resource({ existing: true })
@Entity('hauls')
@TenantScoped()
export class Haul {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ type: 'varchar', length: 64, nullable: true }) quarriedId?: string
  @ManyToOne(() => Quarried) @JoinColumn({ name: 'quarried_id' }) quarried?: Quarried
  @Column({ length: 64 }) accountId!: string
}
/** The table keeps `updatedAt`, and computes `slug`. The one and the other are read back. */
@Resource({ existing: true })
@Entity('shifts')
@Unique(['code'])
@SoftDeletable()
@Emits({ include: 'changed' })
export class Shift {
  @PrimaryColumn({ type: 'int' }) id!: number
  @Column({ length: 40 }) accountId!: string
  @Column({ length: 80 }) title!: string
  @Column({ type: 'varchar', length: 40, nullable: true }) code?: string
  @Column({ type: 'varchar', length: 80, asExpression: 'lower(title)', generatedType: 'STORED' })
  @OutputOnly({ generated: true, filterable: true })
  slug!: string
  @Column({ type: 'int' }) @OutputOnly({ generated: true, filterable: true }) revision!: number
  @UpdateTime({ generated: true, filterable: true }) updatedAt!: Date
  @ETag() etag!: string
  deleteTime?: Date
}

/** The same without events, whose writes would share statements. */
@Resource({ existing: true })
@Entity('shifts')
export class QuietShift {
  @PrimaryColumn({ type: 'int' }) id!: number
  @Column({ length: 40 }) accountId!: string
  @Column({ length: 80 }) title!: string
  @Column({ type: 'varchar', length: 80 }) @OutputOnly({ generated: true, filterable: true }) slug!: string
  @Column({ type: 'int' }) @OutputOnly({ generated: true, filterable: true }) revision!: number
  @UpdateTime({ generated: true, filterable: true }) updatedAt!: Date
  @ETag() etag!: string
}

type Engine = 'postgres' | 'mysql' | 'sqlite'

export const engineOf = (name: BackendName): Engine | undefined => {
  if (name === 'memory') return undefined
  if (name === 'postgres' || name === 'pgbouncer') return 'postgres'
  return name === 'mariadb' || name === 'mysql8' ? 'mysql' : 'sqlite'
}

/**
 * The table of shifts as another application has made it. A trigger counts the revisions: on SQLite after the
 * write, elsewhere before it.
 */
export const SHIFTS: Readonly<Record<Engine, readonly string[]>> = {
  postgres: [
    `CREATE TABLE shifts (id integer PRIMARY KEY, account_id varchar(40), title varchar(80) NOT NULL, code varchar(40) UNIQUE,
      slug varchar(80) GENERATED ALWAYS AS (lower(title)) STORED, revision integer NOT NULL DEFAULT 1,
      updated_at timestamp NOT NULL DEFAULT now(), etag varchar(64) NOT NULL DEFAULT '', deleted_at timestamptz)`,
    `CREATE FUNCTION touched() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.updated_at := clock_timestamp(); NEW.revision := OLD.revision + 1; RETURN NEW; END $$`,
    'CREATE TRIGGER shifts_touched BEFORE UPDATE ON shifts FOR EACH ROW EXECUTE FUNCTION touched()',
  ],
  mysql: [
    `CREATE TABLE shifts (id int PRIMARY KEY, account_id varchar(40) COLLATE utf8mb4_nopad_bin, title varchar(80) NOT NULL, code varchar(40) UNIQUE,
      slug varchar(80) GENERATED ALWAYS AS (lower(title)) STORED, revision int NOT NULL DEFAULT 1,
      updated_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
      etag varchar(64) NOT NULL DEFAULT '', deleted_at datetime(6)) DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_general_ci`,
    'CREATE TRIGGER shifts_touched BEFORE UPDATE ON shifts FOR EACH ROW SET NEW.revision = OLD.revision + 1',
  ],
  sqlite: [
    `CREATE TABLE shifts (id integer PRIMARY KEY, account_id TEXT, title TEXT NOT NULL, code TEXT UNIQUE,
      slug TEXT GENERATED ALWAYS AS (lower(title)) STORED, revision integer NOT NULL DEFAULT 1,
      updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), etag TEXT NOT NULL DEFAULT '', deleted_at TEXT)`,
    `CREATE TRIGGER shifts_touched AFTER UPDATE ON shifts WHEN NEW.revision = OLD.revision
      BEGIN UPDATE shifts SET revision = OLD.revision + 1, updated_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE id = NEW.id; END`,
  ],
}
