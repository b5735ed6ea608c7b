import { textOf } from './documents.js'

/** The guides to migrations. Their commands are run by the tests of `test/cli/migrate`. */
const GUIDES = [
  'migrations',
  'changing-tables',
  'backfills',
  'trying-migrations',
  'database-takeover',
  'failed-migrations',
].map((name) => textOf(`docs/guides/${name}.md`))

/** Sections of a guide, the text before the first heading aside. */
const SECTIONS = new Map(
  GUIDES.flatMap((text) => text.split('\n## ').slice(1)).map((section) => {
    const end = section.indexOf('\n')
    return [section.slice(0, end), section.slice(end + 1)]
  }),
)

export const guideSection = (title: string): string => {
  const text = SECTIONS.get(title)
  if (text === undefined) throw new Error(`no guide to migrations has the section ${title}`)
  return text
}

/** The sections that `guide.test.ts` and `guide-blocks.test.ts` run. */
const RUN_ELSEWHERE = ['A required column with real values', 'A database of another tool']

const firstCommands = (text: string) => /```sh\n(.*?)\n```/s.exec(text)?.[1]

/** The commands of each section that stands alone. */
export const RECIPES: ReadonlyMap<string, string> = new Map(
  [...SECTIONS].flatMap(([title, text]) => {
    const commands = firstCommands(text)
    return commands === undefined || RUN_ELSEWHERE.includes(title) ? [] : [[title, commands] as const]
  }),
)

/** The commands of the first block of a text. */
export const commandsOf = (text: string): readonly string[] => (firstCommands(text) ?? '').split('\n')
