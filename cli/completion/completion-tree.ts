/** The words that a shell can offer at one position of the command line. */
export interface CompletionNode {
  /** The words typed so far, starting with the program, such as `ashlar idp clients`. */
  readonly at: string
  readonly words: readonly { readonly word: string; readonly summary: string }[]
  readonly flags: readonly CompletionFlag[]
}

export interface CompletionFlag {
  readonly name: string
  readonly summary: string
  /** The kind of value after the flag. */
  readonly takes: 'nothing' | 'path' | 'text'
}

/** The part of an oclif command that completion needs. */
export interface CompletableCommand extends Described {
  readonly id: string
  readonly hidden?: boolean
  readonly flags: Readonly<Record<string, CompletableFlag>>
  readonly args: Readonly<Record<string, { readonly options?: readonly string[] }>>
}

interface CompletableFlag extends Described {
  readonly type: string
  readonly helpValue?: unknown
  readonly hidden?: boolean
}

interface Described {
  readonly summary?: string | undefined
  readonly description?: string | undefined
}

const HELP: CompletionFlag = { name: 'help', summary: 'Show help.', takes: 'nothing' }
const VERSION: CompletionFlag = { name: 'version', summary: 'Show the version.', takes: 'nothing' }

/** Returns every position in `program`'s command line that has completions, shortest first. */
export function completionTree(
  program: string,
  commands: readonly CompletableCommand[],
  topics: Readonly<Record<string, string>>,
): readonly CompletionNode[] {
  const visible = commands.filter(({ hidden }) => hidden !== true)
  const byPlace = new Map<string, { words: Map<string, string>; flags: readonly CompletionFlag[] }>()
  const place = (at: string): { words: Map<string, string>; flags: readonly CompletionFlag[] } => {
    const known = byPlace.get(at) ?? {
      words: new Map<string, string>(),
      flags: at === program ? [HELP, VERSION] : [HELP],
    }
    byPlace.set(at, known)
    return known
  }
  for (const command of visible) {
    const { id, flags, args } = command
    const words = id.split(':')
    words.forEach((word, index) => {
      const isCommand = index === words.length - 1
      const topic = words.slice(0, index + 1).join(':')
      place([program, ...words.slice(0, index)].join(' ')).words.set(
        word,
        isCommand ? inShort(command) : (topics[topic] ?? ''),
      )
    })
    const own = place([program, ...words].join(' '))
    own.flags = [...flagsOf(flags), HELP]
    for (const option of Object.values(args).flatMap(({ options }) => options ?? []))
      own.words.set(option, '')
  }
  return [...byPlace]
    .map(([at, { words, flags }]) => ({
      at,
      flags,
      words: [...words].map(([word, summary]) => ({ word, summary })),
    }))
    .sort((a, b) => (a.at < b.at ? -1 : 1))
}

function flagsOf(flags: CompletableCommand['flags']): readonly CompletionFlag[] {
  return Object.entries(flags)
    .filter(([, { hidden }]) => hidden !== true)
    .map(([name, flag]) => ({
      name,
      summary: inShort(flag),
      takes: flag.type === 'boolean' ? 'nothing' : flag.helpValue === '<path>' ? 'path' : 'text',
    }))
}

const inShort = ({ summary, description = '' }: Described): string =>
  summary ?? description.split('\n')[0] ?? ''
