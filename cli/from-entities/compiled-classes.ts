import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Failure } from '../errors/failure.js'
import { foreignModule } from '../loading/foreign-module.js'
import { runTool } from '../proto/project-tool.js'
import { manifestOf } from './project-manifest.js'
import { type ClassDescriptions, classDescriptions } from './decorated-source.js'
import { type EntityFacts, entityClasses, lineage, unexportedClasses } from './entity-classes.js'
import type { ShownEntity } from './shown-fields.js'

/** An entity class and the source file that exports it, as a path from the project's folder. */
export interface LoadedEntity {
  readonly facts: EntityFacts
  readonly source: string
  /** The doc comments of the class and its properties. */
  readonly descriptions?: ClassDescriptions
  /** The reason why it gets no resource, if the class itself does not show it. */
  readonly refusal?: string | undefined
  /** The table's columns that get no field, if the class itself does not show it. */
  readonly lacks?: Pick<ShownEntity, 'leftOut' | 'unfilled'>
  /** Further notes of the report. */
  readonly notes?: readonly string[]
}

export interface LoadedEntities {
  readonly entities: readonly LoadedEntity[]
  /** Entity classes that their modules do not export. */
  readonly unexported: readonly string[]
  /** The classes that are resources already. */
  readonly resources: ReadonlySet<string>
}

/**
 * Runs the build of a project.
 * @throws {Failure} with the first lines of its output.
 */
export async function buildProject(folder: string): Promise<void> {
  const manifest = manifestOf(folder)
  if (manifest === undefined)
    throw new Failure('input', `${folder} has no package.json: name the folder of a project`)
  if (manifest.scripts?.build === undefined)
    throw new Failure(
      'input',
      `${relative('.', join(folder, 'package.json'))} has no build script: build the project yourself and pass --no-build`,
    )
  const { exit, stdout, stderr } = await runTool('npm', ['run', '--silent', 'build'], folder)
  if (exit === 0) return
  const lines = `${stdout.toString()}\n${stderr}`.trim().split('\n').slice(0, 5)
  throw new Failure('input', `npm run build failed: ${lines.join('; ')}`)
}

/** Loads the compiled modules of a project that declare entities. */
export async function compiledEntities(folder: string): Promise<LoadedEntities> {
  const output = join(folder, outputFolder(folder))
  if (!existsSync(output))
    throw new Failure('input', `${relative('.', output)} does not exist: build the project first`)
  const modules = readdirSync(output, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.[mc]?js$/.test(path) && !path.includes('node_modules'))
    .filter((path) => declaresEntity(readFileSync(join(output, path), 'utf8')))
    .sort()
  const { inspectResources } = await import('../../lib/persistence/index.js')
  const sources = new Map<unknown, string>()
  const exported: unknown[] = []
  for (const path of modules)
    for (const one of Object.values(await foreignModule(join(output, path)))) {
      exported.push(one)
      if (!sources.has(one)) sources.set(one, sourceOf(folder, path))
    }
  return {
    entities: entityClasses(exported).map((facts) => {
      const source = sources.get(facts.entity) as string
      return { facts, source, descriptions: descriptionsOf(folder, source, facts) }
    }),
    unexported: unexportedClasses(exported),
    resources: new Set((await inspectResources(exported)).resources.map(({ entity }) => entity)),
  }
}

/** Returns the doc comments of a class, including those inherited from classes of the same source. */
function descriptionsOf(folder: string, source: string, { entity, name }: EntityFacts): ClassDescriptions {
  const path = join(folder, source)
  const classes = existsSync(path) ? classDescriptions(readFileSync(path, 'utf8')) : new Map<string, never>()
  return {
    description: classes.get(name)?.description,
    properties: new Map(lineage(entity).flatMap((one) => [...(classes.get(one.name)?.properties ?? [])])),
  }
}

/**
 * Returns true if a module declares an entity. Other modules may start a server or a connection and are not
 * loaded.
 */
const declaresEntity = (text: string): boolean => text.includes('typeorm') && /\bEntity\)?\(/.test(text)

function outputFolder(folder: string): string {
  for (const name of ['tsconfig.build.json', 'tsconfig.json']) {
    const path = join(folder, name)
    const [, found] = existsSync(path)
      ? (/"outDir"\s*:\s*"([^"]+)"/.exec(readFileSync(path, 'utf8')) ?? [])
      : []
    if (found !== undefined) return found
  }
  return 'dist'
}

/** Returns the source path of a compiled module. */
function sourceOf(folder: string, path: string): string {
  const stem = path.replace(/\.([mc]?)js$/, '.$1ts')
  return [join('src', stem), stem].find((one) => existsSync(join(folder, one))) ?? join('src', stem)
}
