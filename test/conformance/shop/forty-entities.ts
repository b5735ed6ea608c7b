import {
  AfterLoad,
  BaseEntity,
  BeforeInsert,
  BeforeUpdate,
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  Index,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  RelationId,
  Unique,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm'

/** Entities of a shop as an application of TypeORM on PostgreSQL writes them: none knows Ashlar. */

abstract class Row {
  @PrimaryGeneratedColumn('uuid') id!: string
  @CreateDateColumn({ type: 'timestamptz' }) createdAt!: Date
  @UpdateDateColumn({ type: 'timestamptz' }) updatedAt!: Date
}

abstract class Kept extends Row {
  @DeleteDateColumn({ type: 'timestamptz' }) deletedAt?: Date
  @VersionColumn() revision!: number
}

// Owners, catalogs, translations, listeners, base classes, tenants by organization: plain.
@Entity()
export class Organization extends Row {
  @Column({ unique: true }) slug!: string
  @Column({ default: '0' }) seats!: number
  @OneToMany(() => Member, (member) => member.organization) members?: Member[]
}

@Entity()
@Index(['email'], { unique: true, where: '"deletedAt" IS NULL' })
export class Member extends Kept {
  @Column() email!: string
  @Column({ select: false }) passwordHash!: string
  @Column('uuid') organizationId!: string
  @ManyToOne(() => Organization, (organization) => organization.members, { onDelete: 'CASCADE' })
  organization?: Organization
  @OneToMany(() => Address, (address) => address.owner) addresses?: Address[]
  @BeforeInsert() @BeforeUpdate() normalize() {
    this.email = this.email.toLowerCase()
  }
}

@Entity()
class Address extends Row {
  @Column() street!: string
  @Column({ length: 12 }) postcode!: string
  @Column({ nullable: true }) note?: string
  @Column() ownerId!: string
  @ManyToOne(() => Member, (member) => member.addresses, { onDelete: 'CASCADE', orphanedRowAction: 'delete' })
  owner?: Member
}

@Entity({ name: 'catalog', orderBy: { position: 'ASC' } })
class Catalog extends BaseEntity {
  @PrimaryGeneratedColumn() id!: number
  @Column() title!: string
  @Column({ type: 'int', default: 0 }) position!: number
  @Column({ default: false }) hidden!: boolean
  @OneToMany('Shelf', 'catalog') shelves?: unknown[]
}

@Entity()
class Shelf {
  @PrimaryGeneratedColumn({ type: 'int' }) id!: number
  @Column({ length: 80, comment: 'as on the sign' }) label!: string
  @Column() catalogId!: number
  @ManyToOne('Catalog', 'shelves', { createForeignKeyConstraints: false }) catalog?: unknown
}

@Entity()
export class Product extends Kept {
  @Column() sku!: string
  @Column({ type: 'text', default: () => "'draft'" }) state!: string
  @Column({ update: false }) origin!: string
  @Column({ type: 'int', nullable: true }) shelfId?: number
  @ManyToOne(() => Shelf, { onDelete: 'SET NULL', onUpdate: 'CASCADE' }) shelf?: Shelf
  @OneToMany(() => ProductText, (text) => text.product, { cascade: true }) texts?: ProductText[]
}

@Entity()
@Unique(['productId', 'locale'])
class ProductText extends Row {
  @Column({ length: 5 }) locale!: string
  @Column('text') body!: string
  @Column('uuid') productId!: string
  @ManyToOne(() => Product, (product) => product.texts, { onDelete: 'CASCADE' }) product?: Product
}

@Entity()
class Currency {
  @PrimaryColumn({ type: 'char', length: 3 }) code!: string
  @Column() title!: string
  @Column({ type: 'smallint', default: 2 }) digits!: number
}

@Entity()
class Country {
  @PrimaryColumn({ length: 2 }) code!: string
  @Column() title!: string
  @Column({ length: 3 }) currencyCode!: string
  @ManyToOne(() => Currency) @JoinColumn({ name: 'currencyCode' }) currency?: Currency
}

@Entity()
class Session extends Row {
  @Column({ type: 'uuid' }) memberId!: string
  @ManyToOne(() => Member, { onDelete: 'CASCADE', eager: true }) member?: Member
  @Column({ type: 'varchar', insert: false, default: 'web' }) client!: string
}

@Entity()
class Profile extends Row {
  @Column() displayName!: string
  @Column({ nullable: true }) bio?: string
  @OneToOne(() => Member) @JoinColumn() member?: Member
}

@Entity()
class Counter {
  @PrimaryColumn() name!: string
  @Column({ type: 'int', default: 0 }) value!: number
  @VersionColumn() version!: number
}

@Entity()
export class Attachment extends Row {
  @Column() path!: string
  @Column({ type: 'varchar', transformer: { to: (v: number) => String(v), from: (v: string) => Number(v) } })
  bytes!: number
  url?: string
  @AfterLoad() locate() {
    this.url = `/files/${this.path}`
  }
}

@Entity()
class Setting {
  @PrimaryColumn() key!: string
  @Column() value!: string
  @Column({ type: 'boolean', default: 'true' }) enabled!: boolean
}

@Entity()
class Category extends Row {
  @Column() title!: string
  @Column('uuid', { nullable: true }) parentId?: string
  @ManyToOne(() => Category, { nullable: true }) @JoinColumn({ name: 'parentId' }) parent?: Category
}

@Entity()
class Review extends Row {
  @Column('int') stars!: number
  @Column({ type: 'double precision', default: '0.5' }) weight!: number
  @Column('uuid') productId!: string
  @ManyToOne(() => Product, { onDelete: 'CASCADE' }) product?: Product
  @Column('uuid') authorId!: string
  @ManyToOne(() => Member) author?: Member
}

@Entity('audit_log')
@Index('audit_by_actor', { synchronize: false })
class AuditEntry {
  @PrimaryGeneratedColumn('uuid') id!: string
  @Column() actor!: string
  @Column() action!: string
  @Column({ type: 'timestamptz', default: () => 'now()' }) at!: Date
}

// Free-form JSON.
@Entity()
class Theme extends Row {
  @Column() title!: string
  @Column('jsonb', { default: {} }) colors!: object
}

@Entity()
class Webhook extends Row {
  @Column() url!: string
  @Column('json', { nullable: true }) headers?: Record<string, unknown>
}

@Entity()
@Index('delivery_body', ['body'], { where: 'attempts > 0' })
class Delivery extends Row {
  @Column({ default: 0 }) attempts!: number
  @Column('jsonb') body!: unknown
}

@Entity()
class Draft extends Row {
  @Column() title!: string
  @Column('simple-json', { nullable: true }) content?: { blocks: unknown[] }
}

@Entity()
class Feature {
  @PrimaryColumn() name!: string
  @Column('jsonb', { default: () => "'{}'" }) rules!: Record<string, unknown>
}

// Enums.
enum Size {
  Small = 'small',
  Large = 'large',
}

@Entity()
class Parcel extends Row {
  @Column({ type: 'enum', enum: Size, default: Size.Small }) size!: Size
  @Column() carrier!: string
}

@Entity()
class Ticket extends Row {
  @Column() subject!: string
  @Column({ type: 'enum', enum: ['open', 'shut'], enumName: 'ticket_state' }) state!: string
}

@Entity()
class Invoice extends Kept {
  @Column() title!: string
  @Column('simple-enum', { enum: ['paid', 'due'], default: 'due' }) state!: string
}

@Entity()
class Role extends Row {
  @Column({ type: 'enum', enum: ['reader', 'writer'], array: true, default: [] }) grants!: string[]
  @Column() title!: string
}

// Arrays.
@Entity()
export class Recipe extends Row {
  @Column() title!: string
  @Column('text', { array: true, default: [] }) steps!: string[]
}

@Entity()
export class Poll extends Row {
  @Column() question!: string
  @Column('int', { array: true }) votes!: number[]
}

@Entity()
class Newsletter extends Row {
  @Column() title!: string
  @Column('simple-array') addresses!: string[]
  @ManyToOne(() => Organization, { nullable: true })
  @JoinColumn({ name: 'publisher', referencedColumnName: 'slug' })
  publisher?: Organization
}

// Unusual times and 64-bit integers.
@Entity()
class Opening {
  @PrimaryGeneratedColumn('uuid') id!: string
  @Column('time') from!: string
  @Column('date') on!: string
}

@Entity()
class Ledger {
  @PrimaryGeneratedColumn({ type: 'bigint' }) id!: string
  @Column('bigint') amount!: string
  @Column({ type: 'bigint', default: 0 }) balance!: number
}

@Entity()
class Reading extends Row {
  @Column('timestamp', { precision: 3 }) at!: Date
  @Column('real') value!: number
}

@Entity()
class Price extends Row {
  @Column('decimal', { precision: 10, scale: 2 }) amount!: string
  @Column('interval', { nullable: true }) validFor?: unknown
  @Column() label!: string
}

// A composite key.
@Entity()
class Stock {
  @PrimaryColumn('uuid') productId!: string
  @PrimaryColumn('int') shelfId!: number
  @Column('int') pieces!: number
}

// Many to many.
@Entity()
export class Tag extends Row {
  @Column() title!: string
  @ManyToMany(() => Article, (article) => article.tags) articles?: Article[]
}

@Entity()
export class Article extends Kept {
  @Column() title!: string
  @ManyToMany(() => Tag, (tag) => tag.articles) @JoinTable() tags?: Tag[]
  @RelationId((article: Article) => article.tags) tagIds!: string[]
}

@Entity()
class Team extends Row {
  @Column() title!: string
  @ManyToMany(() => Member, { eager: true }) @JoinTable({ name: 'team_members' }) members?: Member[]
}

@Entity()
class Playlist extends Row {
  @Column() title!: string
  @ManyToMany(() => Attachment, { cascade: true }) @JoinTable() tracks?: Promise<Attachment[]>
}

@Entity()
class Bundle extends Row {
  @Column() title!: string
  @ManyToMany(() => Product, { onDelete: 'CASCADE' }) @JoinTable() products?: Product[]
}

@Entity()
class Course extends Row {
  @Column() title!: string
  @ManyToMany('Member') @JoinTable() students?: unknown[]
}

export const shop: readonly (new () => object)[] = [
  Organization,
  Member,
  Address,
  Catalog,
  Shelf,
  Product,
  ProductText,
  Currency,
  Country,
  Session,
  Profile,
  Counter,
  Attachment,
  Setting,
  Category,
  Review,
  AuditEntry,
  Theme,
  Webhook,
  Delivery,
  Draft,
  Feature,
  Parcel,
  Ticket,
  Invoice,
  Role,
  Recipe,
  Poll,
  Newsletter,
  Opening,
  Ledger,
  Reading,
  Price,
  Stock,
  Tag,
  Article,
  Team,
  Playlist,
  Bundle,
  Course,
]
