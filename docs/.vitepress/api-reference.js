import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Converter, ReflectionKind } from 'typedoc'
import { MarkdownPageEvent } from 'typedoc-plugin-markdown'

const INDEX = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'lib', 'index.ts')

/**
 * A plugin of TypeDoc. Entries have the names that one imports, `ashlar/server` and not `lib/server`. Bases
 * that no entry exports are left out. The page of `ashlar` lists its names with their first sentences.
 */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const entry of project.getChildrenByKind(ReflectionKind.Module))
      entry.name = `ashlar/${entry.name}`.replace('/lib', '')
  })
  // Between the two, TypeDoc makes the hierarchies from the clauses, and the notes on members.
  const onEach = (change) => (context) => Object.values(context.project.reflections).forEach(change)
  app.converter.on(Converter.EVENT_RESOLVE_END, onEach(leaveOutBases), 1000)
  app.converter.on(Converter.EVENT_RESOLVE_END, onEach(leaveOutNotes), -1000)
  app.renderer.on(MarkdownPageEvent.END, (page) => {
    if (page.model.name === 'ashlar' && page.model.kind === ReflectionKind.Module)
      page.contents = indexPage(page.model, (target) => app.renderer.router.relativeUrl(page.model, target))
  })
}

/** False for a type of this project, or a part of such a type, that no entry exports. */
const hasPage = ({ type, reflection, package: owner, name }) =>
  type !== 'reference' ||
  reflection !== undefined ||
  (owner !== undefined && owner !== 'ashlar' && !/^(Omit|Partial|Pick)\b/.test(name))

/** Removes the bases in `extends` and `implements` that have no page. */
function leaveOutBases(reflection) {
  for (const clause of ['extendedTypes', 'implementedTypes']) {
    const shown = reflection[clause]?.filter(hasPage)
    reflection[clause] = shown?.length > 0 ? shown : undefined
  }
}

/** Removes the notes on members of such bases. */
function leaveOutNotes(reflection) {
  for (const note of ['inheritedFrom', 'implementationOf', 'overwrites'])
    if (reflection[note] !== undefined && !hasPage(reflection[note])) reflection[note] = undefined
}

/**
 * The names of `ashlar` in the sections of lib/index.ts, each with a link and its first sentence, and the
 * other entries.
 */
function indexPage(module, urlTo) {
  const targets = new Map(module.children.map((child) => [child.name, child.getTargetReflectionDeep()]))
  const rowOf = (name, target) => `| [${name}](${urlTo(target)}) | ${firstSentence(target)} |`
  const tableOf = (rows) => ['| Name | Description |', '| --- | --- |', ...rows].join('\n')
  const page = [`# ${module.name}`, textOf(module.comment)]
  for (const [audience, sections] of written())
    page.push(
      `## For ${audience}`,
      ...sections.flatMap(([heading, names]) => [
        `### ${heading}`,
        tableOf(names.map((name) => rowOf(name, targets.get(name)))),
      ]),
    )
  const others = module.parent.children.filter((entry) => entry !== module)
  page.push('## Other entries', tableOf(others.map((entry) => rowOf(entry.name, entry))))
  return `${page.join('\n\n')}\n`
}

/** The sections of lib/index.ts that have names, by audience. A test compares the comments with the names. */
function written() {
  const audiences = readFileSync(INDEX, 'utf8')
    .split(/^\/\/ For /m)
    .slice(1)
  return audiences.map((text) => {
    const sections = text
      .split(/^\/\/ \d\. /m)
      .slice(1)
      .map((section) => [
        section.slice(0, section.indexOf('\n')),
        [...section.matchAll(/\{([^}]*)\}/g)]
          .flatMap(([, list]) => list.split(','))
          .map((name) => name.trim().replace(/^type /, ''))
          .filter((name) => name !== ''),
      ])
    return [text.slice(0, text.indexOf('\n')), sections.filter(([, names]) => names.length > 0)]
  })
}

const firstSentence = (target) => {
  const text = textOf(target.comment ?? target.signatures?.[0]?.comment)
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text
}

const textOf = (comment) =>
  (comment?.summary ?? [])
    .map(({ text }) => text)
    .join('')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('|', '\\|')
