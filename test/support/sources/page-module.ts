import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { compiled, root } from '../root.js'
import { blocksOf } from './documents.js'

const PACKAGES = ['typeorm', 'reflect-metadata', '@bufbuild', 'jose', 'node-vault']

/**
 * The named `ts` blocks of a page, compiled to JavaScript in a folder. They use the packages of this
 * repository.
 */
export interface PageFolder {
  readonly folder: string
  /** Imports a block by its file name and returns its exports. */
  load(file: string): Promise<Readonly<Record<string, unknown>>>
  remove(): void
}

/**
 * Writes the named blocks of a page to a folder. They can import the files of examples/widgets, as in
 * test/readme.test.ts.
 */
export function pageFolder(page: string): PageFolder {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-page-'))
  const link = (path: string, target: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(target, join(folder, path))
  }
  for (const name of PACKAGES) link(`node_modules/${name}`, join(root, 'node_modules', name))
  link('node_modules/ashlar', root)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const own = new Map<string, string>()
  for (const { language, file, text } of blocksOf(page))
    if (language === 'ts' && file !== undefined) own.set(file.replace(/ts$/, 'js'), text)
  const widgets = join(compiled, 'examples/widgets')
  for (const name of readdirSync(widgets))
    if (!own.has(name) && (name === 'gen' || name.endsWith('.js'))) link(name, join(widgets, name))
  for (const [name, text] of own) writeFileSync(join(folder, name), javascriptOf(text))
  return {
    folder,
    load: async (file) =>
      (await import(pathToFileURL(join(folder, file.replace(/ts$/, 'js'))).href)) as Readonly<
        Record<string, unknown>
      >,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Compiles a block to JavaScript, with the decorators of TypeORM. */
export const javascriptOf = (text: string): string =>
  ts.transpileModule(text, {
    compilerOptions: {
      ...{ module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, useDefineForClassFields: false },
      ...{ experimentalDecorators: true, emitDecoratorMetadata: true },
    },
  }).outputText
