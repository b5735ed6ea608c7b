import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { AlgoSHA512_256 } from '../lib/secrets/hash-spec.js'
import { measureVerifyTiming } from './sides/secrets-timing.js'
import { idleMegabytes } from './sides/startup.js'
import type { Subject } from './subject.js'

const side = (name: string): URL => new URL(`./sides/${name}.js`, import.meta.url)

/**
 * Returns a side that sends load to a server in another process. `server` names a module in `sides`, or in
 * `peers` if it ends with `.mjs`.
 */
const load = (name: string, server: string): URL =>
  new URL(`./sides/${name}.js?server=${server}`, import.meta.url)

/** Returns a side on PostgreSQL that otherwise uses SQLite. */
const onPostgres = (name: string): URL => new URL(`./sides/${name}.js?engine=postgres`, import.meta.url)

/** Returns a side whose rows have keys of a type. */
const keyed = (type: string): URL => new URL(`./sides/keys.js?type=${type}`, import.meta.url)

/**
 * Returns a peer. Peers that need `bench/package.json` are not part of the build and run from the source
 * folder.
 */
const peer = (name: string): URL => new URL(`../../bench/peers/${name}.mjs`, import.meta.url)

/** Returns sides for pages with two relations and without relations. */
const relatedSides = (engine: string) => {
  const whole = (name: string) => new URL(`./sides/${name}.js?engine=${engine}`, import.meta.url)
  const alone = (name: string) =>
    new URL(`./sides/${name}.js?engine=${engine}&relations=none`, import.meta.url)
  return {
    ashlar: whole('related-ashlar'),
    'ashlar, alone': alone('related-ashlar'),
    'join by hand': whole('related-join'),
    'by hand, alone': alone('related-join'),
    TypeORM: whole('related-typeorm'),
    'TypeORM, alone': alone('related-typeorm'),
  }
}
const RELATED_PARTS = {
  ashlar: 'ashlar, alone',
  'join by hand': 'by hand, alone',
  TypeORM: 'TypeORM, alone',
}

const PACKED_STARTUP = new URL('./sides/startup.js?server=widgets-ashlar&packed', import.meta.url)

const POSTGRES_SIDES = {
  ashlar: side('postgres-ashlar'),
  'raw pg': side('postgres-raw'),
  TypeORM: side('postgres-typeorm'),
}

/** Everything that `npm run bench` measures, in order. */
export const SUBJECTS: readonly Subject[] = [
  {
    name: 'sqlite',
    operations: ['get', 'list'],
    concurrency: [1, 16],
    pace: { warmUpMs: 3000 },
    sides: {
      ashlar: side('sqlite-ashlar'),
      'prepared statements': side('sqlite-prepared'),
      TypeORM: side('sqlite-typeorm'),
    },
    goals: { 'prepared statements': { 'get, 1': 0.95, 'get, 16': 1.5 } },
  },
  {
    name: 'postgres',
    operations: ['get', 'list', 'page 1', 'page 181', 'create', 'update', 'batchGet 100'],
    concurrency: [1, 16, 64],
    pace: { rounds: 15, ms: 300, warmUpMs: 8000 },
    sides: POSTGRES_SIDES,
    goals: {
      'raw pg': {
        ...{ 'get, 1': 1, 'get, 16': 2.3, 'get, 64': 4, list: 1.4 },
        ...{ 'create, 1': 1, 'create, 64': 2.2, 'update, 1': 1, 'update, 64': 2.7 },
      },
    },
  },
  {
    name: 'postgres-libraries',
    operations: ['get', 'list', 'create', 'update'],
    concurrency: [1, 64],
    pace: { warmUpMs: 3000 },
    sides: {
      ashlar: side('postgres-ashlar'),
      'postgres.js': peer('postgres-js'),
      Drizzle: peer('postgres-drizzle'),
    },
    installs: true,
  },
  {
    name: 'postgres-far',
    operations: ['get'],
    concurrency: [1, 4, 10, 64],
    pace: { rounds: 7, ms: 700 },
    sides: {
      ashlar: new URL('./sides/far-gets.js?merge=all', import.meta.url),
      'each call alone': new URL('./sides/far-gets.js?merge=off', import.meta.url),
    },
  },
  {
    // Here `cpu` is the cost of another key type relative to text.
    name: 'postgres-keys',
    operations: ['get', 'list', 'create', 'create, chosen', 'update'],
    concurrency: [1, 64],
    pace: { rounds: 40, ms: 150, warmUpMs: 2000 },
    sides: {
      ashlar: keyed('text'),
      uuid: keyed('uuid'),
      int: keyed('int'),
      bigint: keyed('bigint'),
      'generated int': keyed('generated'),
    },
    // Callers cannot choose a number that the database generates.
    offers: { 'generated int': ['get', 'list', 'create', 'update'] },
  },
  {
    name: 'postgres-batch',
    operations: ['batchUpdate 1000'],
    concurrency: [1, 4],
    pace: { rounds: 7, ms: 1000 },
    sides: POSTGRES_SIDES,
    goals: { 'raw pg': { 'batchUpdate 1000, 1': 8 } },
  },
  {
    name: 'relations',
    operations: ['few targets', 'a target each', 'children'],
    concurrency: [1, 16],
    pace: { rounds: 9, ms: 500, warmUpMs: 8000 },
    sides: relatedSides('postgres'),
    parts: RELATED_PARTS,
  },
  {
    name: 'sqlite-relations',
    operations: ['few targets', 'a target each', 'children'],
    pace: { rounds: 7, ms: 500, warmUpMs: 3000 },
    sides: relatedSides('sqlite'),
    parts: RELATED_PARTS,
  },
  {
    name: 'search',
    operations: ['rare word'],
    sides: { ashlar: side('search-indexed'), 'on the fly': side('search-jit') },
  },
  {
    // One tenant owns almost all rows, and most calls come from the others.
    name: 'skewed',
    operations: [
      ...['large, filter', 'large, filter and order', 'large, order', 'large, common word'],
      ...['large, rare word', 'large, get'],
      ...['small, filter', 'small, filter and order', 'small, order', 'small, common word'],
    ],
    pace: { rounds: 5, ms: 200 },
    sides: { ashlar: side('skewed-ashlar'), 'custom plans': side('skewed-custom') },
  },
  {
    name: 'rpc',
    operations: ['echo'],
    concurrency: [64],
    pace: { rounds: 15, ms: 300, warmUpMs: 8000 },
    sides: {
      ashlar: load('rpc', 'echo-ashlar'),
      'grpc-js, bare': load('rpc', 'echo-grpc-js.mjs'),
      'grpc-js, protobuf-es': load('rpc', 'echo-grpc-es.mjs'),
      'connect-node': load('rpc', 'echo-connect.mjs'),
    },
    installs: true,
    goals: { 'grpc-js, bare': { echo: 0.9 }, 'grpc-js, protobuf-es': { echo: 1 } },
  },
  {
    name: 'stack',
    operations: ['get', 'list', 'create', 'update'],
    concurrency: [64],
    pace: { rounds: 15, ms: 300, warmUpMs: 8000 },
    sides: {
      ashlar: load('stack', 'widgets-ashlar'),
      'grpc-js and pg': load('stack', 'widgets-grpc-js.mjs'),
      'NestJS and TypeORM': load('stack', 'widgets-nest.mjs'),
      'connect-node and pg': load('stack', 'widgets-connect.mjs'),
    },
    installs: true,
    goals: {
      'grpc-js and pg': { get: 1.6, list: 1.2, create: 1.3, update: 1.4 },
      'NestJS and TypeORM': { get: 3.2, list: 2.3, create: 4.5, update: 8 },
    },
    ceiling: { peer: 'grpc-js and pg', echo: load('rpc', 'echo-grpc-js.mjs'), operation: 'echo' },
  },
  {
    name: 'gateway',
    operations: ['get', 'list'],
    concurrency: [64],
    pace: { rounds: 15, ms: 300, warmUpMs: 8000 },
    sides: {
      ashlar: load('gateway', 'widgets-ashlar'),
      'fastify and pg': load('gateway', 'widgets-fastify.mjs'),
      'over loopback gRPC': load('gateway', 'gateway-loopback'),
    },
    installs: true,
    goals: { 'fastify and pg': { get: 1.4, list: 1.2 } },
    ceiling: { peer: 'fastify and pg', echo: load('http-echo', 'echo-fastify.mjs'), operation: 'echo' },
  },
  {
    name: 'startup',
    operations: ['first response'],
    pace: { rounds: 5, ms: 1 },
    sides: {
      ashlar: PACKED_STARTUP,
      'a file per module': load('startup', 'widgets-ashlar'),
      'NestJS and TypeORM': load('startup', 'widgets-nest.mjs'),
    },
    installs: true,
    packs: true,
    goals: { 'NestJS and TypeORM': { 'first response': 1 / 0.75 } },
    afterwards: idleMemory,
  },
  {
    name: 'secrets',
    operations: ['verify', 'parse and verify', 'encrypt', 'hash'],
    sides: { ashlar: side('secrets-ashlar'), 'node:crypto': side('secrets-bare') },
    afterwards: verifyTiming,
  },
  {
    name: 'transit',
    operations: ['encrypt'],
    concurrency: [1, 16, 64],
    sides: { ashlar: side('transit-ashlar'), 'agent of node:http': side('transit-agent') },
    goals: { 'agent of node:http': { encrypt: 0.9 } },
  },
  {
    name: 'filter',
    operations: ['parse'],
    sides: { ashlar: side('filter-ashlar'), liqe: peer('filter-liqe') },
    installs: true,
    afterwards: filterMemory,
  },
  {
    name: 'validation',
    operations: ['call'],
    sides: {
      ashlar: side('validation-none'),
      'five field rules': side('validation-five'),
      'without validation': side('validation-bare'),
    },
  },
  {
    name: 'rules',
    operations: ['call'],
    concurrency: [64],
    pace: { rounds: 7, ms: 700, warmUpMs: 3000 },
    sides: { ashlar: load('rules', 'rules-five'), 'without rules': load('rules', 'rules-none') },
  },
  {
    name: 'hooks',
    operations: ['create', 'update', 'get'],
    sides: { ashlar: side('hooks-listeners'), 'in transaction(fn), without hooks': side('hooks-none') },
  },
  {
    name: 'postgres-hooks',
    operations: ['create', 'update', 'get'],
    concurrency: [1, 16],
    sides: {
      ashlar: onPostgres('hooks-listeners'),
      'in transaction(fn), without hooks': onPostgres('hooks-none'),
    },
  },
  {
    name: 'cli',
    operations: ['--help'],
    packs: true,
    sides: {
      ashlar: new URL('./sides/cli-ashlar.js?packed', import.meta.url),
      'a file per module': side('cli-ashlar'),
      'node -e 0': side('cli-bare'),
    },
  },
]

/** Reports whether the duration distinguishes a correct secret, a wrong one and an unknown public id. */
async function verifyTiming(): Promise<readonly string[]> {
  const { right, wrong, unknown, noise } = await measureVerifyTiming({ algo: AlgoSHA512_256 })
  return [
    `verify, medians of 20,000 interleaved calls: right ${right} ns, wrong ${wrong} ns, unknown ${unknown} ns, noise ${noise} ns`,
  ]
}

/** Reports the memory of idle servers. */
async function idleMemory(): Promise<readonly string[]> {
  const ours = await idleMegabytes(PACKED_STARTUP)
  const theirs = await idleMegabytes(load('startup', 'widgets-nest.mjs'))
  return [
    `idle, resident: ashlar ${ours.toFixed(1)} MB, NestJS and TypeORM ${theirs.toFixed(1)} MB, ours to theirs ${(ours / theirs).toFixed(2)}`,
  ]
}

/** Reports whether filters, which clients choose, can fill the memory. */
function filterMemory(): Promise<readonly string[]> {
  const script = fileURLToPath(side('filter-memory'))
  const held = JSON.parse(
    execFileSync(process.execPath, ['--expose-gc', script], { encoding: 'utf8' }),
  ) as object
  const lines = Object.entries(held).map(
    ([texts, mebibytes]) =>
      `heap after ${texts} different filter texts: ${(mebibytes as number).toFixed(1)} MiB`,
  )
  return Promise.resolve(lines)
}
